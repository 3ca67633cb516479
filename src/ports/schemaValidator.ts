export type SchemaVerdict =
  | { readonly kind: 'valid' }
  /** The schema is not usable. */
  | { readonly kind: 'broken'; readonly problem: string }
  /** The value does not match it. */
  | { readonly kind: 'mismatch'; readonly problem: string }
  | { readonly kind: 'timeout' }

export interface ValidationTurn {
  /** Owners take turns, so that the wait of one does not grow with what another one sends. */
  readonly owner: string
  /** Ends the wait: a value whose caller left is not judged. */
  readonly signal: AbortSignal
}

/**
 * JSON Schema 2020-12 on untrusted schemas. Rejects while too many values wait, of the owner or of all, and with the reason
 * of the turn's signal.
 */
export interface SchemaValidator {
  readonly deadlineMs: number
  validate(schema: unknown, value: unknown, turn: ValidationTurn): Promise<SchemaVerdict>
}
