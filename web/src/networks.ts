import { firstPauseMs, pauseAfter } from './pause.js'
import { api } from './session.js'
import { createStore } from './store.js'

export interface NetworkNames {
  readonly network: string
  readonly name: string
  readonly isTestnet: boolean
  readonly tokens: readonly { readonly asset: string; readonly symbol: string; readonly decimals: number }[]
}

export const networks = createStore<readonly NetworkNames[]>([])

/** Asks for the names of networks and tokens until they arrive. Without them amounts are shown in smallest units. */
export const loadNetworks = async (): Promise<void> => {
  let pauseMs = firstPauseMs
  while (true) {
    const result = await api.getFile<{ readonly networks: readonly NetworkNames[] }>('/console/networks.json')
    if (result.ok) return networks.set(result.data.networks)
    pauseMs = await pauseAfter(result.error, pauseMs)
  }
}

export const nameOf = (network: string): string =>
  networks.get().find((each) => each.network === network)?.name ?? network

interface TokenAmount {
  readonly network: string
  readonly asset: string
  /** In smallest units. */
  readonly amount: string
}

/** Tokens with one symbol and the same decimals are one currency, whatever their network; the largest sum first. */
export const sumByToken = (amounts: readonly TokenAmount[]): readonly TokenAmount[] => {
  const sums = new Map<string, TokenAmount>()
  for (const each of amounts) {
    const token = findToken(each.network, each.asset)
    const name = token === null ? `${each.network} ${each.asset}` : `${token.symbol} ${token.decimals}`
    const before = sums.get(name)
    const amount = BigInt(before?.amount ?? 0) + BigInt(each.amount)
    sums.set(name, { ...(before ?? each), amount: amount.toString() })
  }
  return [...sums.values()].sort(
    (one, other) => other.amount.length - one.amount.length || (other.amount > one.amount ? 1 : -1),
  )
}

/** Hex is compared in any case. */
export const findToken = (network: string, asset: string) =>
  networks
    .get()
    .find((each) => each.network === network)
    ?.tokens.find((token) => token.asset === asset || isSameHex(token.asset, asset)) ?? null

const isSameHex = (one: string, other: string): boolean =>
  /^0x[0-9a-f]+$/i.test(one) && one.toLowerCase() === other.toLowerCase()
