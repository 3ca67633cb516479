// A price with at most 18 decimals, and its denomination.
const priceForm = /^([0-9]{1,20})(?:\.([0-9]{1,18}))?([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/

const scale = 18

/** Fees in one denomination, rounded up. */
export interface Price {
  readonly denom: string
  feeFor(gas: bigint): bigint
}

/** Reads a list such as `0.1uusdc,0.01stake`; what has another form is left out. */
export const readGasPrices = (text: string): readonly Price[] =>
  text.split(',').flatMap((entry) => {
    const [, whole, fraction = '', denom] = priceForm.exec(entry.trim()) ?? []
    if (whole === undefined || denom === undefined) return []
    const scaled = BigInt(`${whole}${fraction.padEnd(scale, '0')}`)
    const unit = 10n ** BigInt(scale)
    return [{ denom, feeFor: (gas) => (scaled * gas + unit - 1n) / unit }]
  })
