import type { ComponentChildren, JSX } from 'preact';

/** A wide part, such as a table, that scrolls by itself, also with the keyboard. */
export function Scroll({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- only what has the focus scrolls with the keyboard
    <div class="scroll" role="region" aria-label={`${label} (table)`} tabIndex={0}>
      {children}
    </div>
  );
}
