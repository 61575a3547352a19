import type { ReactNode } from 'react';

export const metadata = { title: 'Questions' };

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body
        style={{
          colorScheme: 'light dark',
          font: '16px/1.5 system-ui, sans-serif',
          maxWidth: '40rem',
          margin: '0 auto',
          padding: '1rem',
        }}
      >
        {children}
      </body>
    </html>
  );
}
