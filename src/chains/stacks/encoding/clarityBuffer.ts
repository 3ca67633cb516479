// A buffer, possibly in `(some …)`: type, length in four bytes, content.
const bufferForm = /^0x(?:0a)?02([0-9a-f]{8})((?:[0-9a-f]{2})*)$/

/** Text of a serialized Clarity buffer; null if it is another value, or no UTF-8. Padding with zeros is no part of it. */
export const readBufferText = (serialized: string): string | null => {
  const [, length, content] = bufferForm.exec(serialized) ?? []
  if (length === undefined || content === undefined) return null
  const bytes = Buffer.from(content, 'hex')
  if (bytes.length !== Number.parseInt(length, 16)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\0+$/, '')
  } catch {
    return null
  }
}
