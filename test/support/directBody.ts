interface DirectTerms {
  readonly network: string
  /** As the network's clients write it. */
  readonly asset: string
  readonly amount: bigint
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
  /** URL; absent: the body names none. */
  readonly resource?: string
}

/** A body of /verify and /settle for a payment that was made; `payload` names the transaction and the payer. */
export const writeDirectBody = <Payload extends object>(
  { amount, resource, ...terms }: DirectTerms,
  payload: Payload,
) => {
  const requirements = { scheme: 'exact-direct' as const, amount: `${amount}`, ...terms }
  return {
    paymentPayload: {
      x402Version: 2 as const,
      ...(resource === undefined ? {} : { resource: { url: resource } }),
      accepted: requirements,
      payload: { to: terms.payTo, amount: `${amount}`, ...payload },
    },
    paymentRequirements: requirements,
  }
}
