/** It bounds a proof on the wire, in characters, before it is decoded. */
export const maxProofLength = 16_384

/** 8 kB in hex. */
export const maxSignatureLength = 16_386

/** The longest time for which a caller may accept a message: nonces are remembered this long. */
export const maxSignInAgeSeconds = 86_400

export const maxResources = 32
export const maxUriLength = 2_048
export const maxStatementLength = 1_000

/** EIP-4361 allows letters and digits; UUIDs and base64url are in use. */
export const nonceForm = /^[A-Za-z0-9_-]{8,128}$/

/** Host of a URL, with its port unless it is the default. */
export const domainForm =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/

/** CAIP-2; the numbers of EVM chains are written without leading zeros. */
export const chainForm = /^(?!eip155:(?![1-9][0-9]{0,14}$))[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,64}$/

/** Would let one field continue as the next line of the message, or have no UTF-8 form of its own. */
export const isSingleLine = (text: string): boolean => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)
