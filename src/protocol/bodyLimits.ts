/** The largest bodies that requests may have, in bytes. */
export const bodyLimits = {
  /**
   * /verify and /settle, unless the operator sets another. The largest payment, with an EIP-6492 signature of 16 kB in
   * hex, has about 34 kB; what else may be long are descriptions and schemas in the requirements.
   */
  payment: 65_536,
  /** The most that an operator may set for them. */
  paymentMaximum: 1_048_576,
  /** Every other route: an address and a project, a URL, or two lists of 100 addresses and host names. */
  account: 8_192,
} as const
