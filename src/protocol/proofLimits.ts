/** Of a signature in hex: 16 kB for EIP-6492, whose factories deploy a wallet. */
const maxSignatureLength = 32_770
/** Of any other text: the largest signed transaction, of TON, has 4 kB in base64 or hex. */
const maxTextLength = 16_384

/**
 * Whether a text of the proof is longer than any family reads: such a proof is refused before it is decoded or hashed.
 * Without recursion, which a proof of any depth could exhaust.
 */
export const hasLongText = (proof: unknown): boolean => {
  const open: (readonly [name: string, value: unknown])[] = [['', proof]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, value] = next
    if (typeof value === 'string') {
      if (value.length > (name === 'signature' ? maxSignatureLength : maxTextLength)) return true
    } else if (typeof value === 'object' && value !== null) {
      for (const entry of Object.entries(value)) open.push(entry)
    }
  }
  return false
}

export const longTextMessage = `paymentPayload.payload: a text has more than ${maxTextLength} characters, or a signature more than ${maxSignatureLength}`
