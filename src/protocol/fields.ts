/** An object of untrusted JSON. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Anything else is read as an empty object. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [key: string]: JsonValue
}
