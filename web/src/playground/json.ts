export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Null for a text that is no JSON object. */
export const parseObject = (text: string): Json | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

export const readObject = (json: Json | null, name: string): Json | null => {
  const value = json?.[name]
  return isObject(value) ? value : null
}

export const readText = (json: Json | null, name: string): string | null => {
  const value = json?.[name]
  return typeof value === 'string' ? value : null
}

/** As the headers of the protocol carry it: base64 of the UTF-8 bytes. */
export const toBase64 = (value: unknown): string => {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

export const toPrettyJson = (value: unknown): string => JSON.stringify(value, null, 2)
