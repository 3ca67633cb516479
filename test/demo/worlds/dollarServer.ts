import type { SchemeNetworkServer } from '@x402/core/types'

interface DollarServer {
  readonly scheme: 'exact' | 'exact-direct'
  /** Token with six decimals, as requirements name it. */
  readonly asset: string
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The server side of a scheme that no published package has: converts a dollar price to a token. */
export const createDollarServer = ({ scheme, asset, extra = {} }: DollarServer): SchemeNetworkServer => ({
  scheme,
  defaultAssetTransferMethod: 'default',
  paymentFlows: { default: { default: 'authorization', supported: ['authorization'] } },
  getAssetDecimals: () => 6,
  parsePrice: async (price) => {
    if (typeof price === 'object') return price
    const cents = Math.round(Number(String(price).replace(/^\$/, '')) * 100)
    return { amount: String(cents * 10_000), asset, extra }
  },
  enhancePaymentRequirements: async (requirements) => requirements,
})
