/**
 * The part of pgvector that a store uses, in SQL and slow: for tests of concurrent sessions on a server
 * without the extension. A vector is its text form.
 */
export const PGVECTOR_IN_SQL = `
  CREATE DOMAIN vector AS text;
  CREATE FUNCTION vector_dims(value text) RETURNS int IMMUTABLE LANGUAGE sql AS
    'SELECT json_array_length(value::json)';
  CREATE FUNCTION cosine_distance(a text, b text) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$
    SELECT CASE WHEN sum(x * x) = 0 OR sum(y * y) = 0 THEN 'NaN'
      ELSE 1 - sum(x * y) / sqrt(sum(x * x) * sum(y * y)) END
    FROM ROWS FROM (json_array_elements_text(a::json), json_array_elements_text(b::json)) AS pair (left_text, right_text),
    LATERAL (SELECT left_text::float8 AS x, right_text::float8 AS y) AS numbers
  $$;
  CREATE OPERATOR <=> (FUNCTION = cosine_distance, LEFTARG = text, RIGHTARG = text);
`;
