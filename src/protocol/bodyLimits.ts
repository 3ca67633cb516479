/** Maximum request body sizes, in bytes. */
export const bodyLimits = {
  /** Default. The largest payment, with a 16 kB EIP-6492 signature in hex, takes about 34 kB. */
  payment: 65_536,
  paymentMaximum: 1_048_576,
  /** A sign-in proof of 16 kB as a JSON object with the expectations of the server. */
  signIn: 32_768,
  /** A declaration of 64 kB, for `/discovery/validate`, within a 402 answer. */
  declaration: 131_072,
  /** Every other route; the largest body has two lists of 100 addresses and host names. */
  account: 8_192,
} as const
