export type SchemaVerdict =
  | { readonly kind: 'valid' }
  /** The schema is not usable. */
  | { readonly kind: 'broken'; readonly problem: string }
  /** The value does not match it. */
  | { readonly kind: 'mismatch'; readonly problem: string }
  | { readonly kind: 'timeout' }

/** JSON Schema 2020-12 on untrusted schemas. Rejects while too many validations wait. */
export interface SchemaValidator {
  readonly deadlineMs: number
  validate(schema: unknown, value: unknown): Promise<SchemaVerdict>
}
