import { setNewest } from '../../concurrency/boundedMap.js'
import type { ChannelCustody, ChannelName } from '../../ports/channelCustody.js'

const maxCached = 50_000

interface KnownBinding {
  readonly account: string
  readonly isFunded: boolean
}

const keyOf = ({ network, channelId }: ChannelName): string => `${network} ${channelId}`

/** Bindings never change, so that none becomes stale. Channels without one are looked up each time. */
export const createCustodyCache = (store: ChannelCustody): ChannelCustody => {
  const known = new Map<string, KnownBinding>()

  const remember = (channel: ChannelName, binding: KnownBinding): void =>
    setNewest(known, keyOf(channel), binding, maxCached)

  return {
    findAccounts: async (channels) => {
      const cached = channels.map((channel) => known.get(keyOf(channel))?.account ?? null)
      const missing = channels.filter((_, index) => cached[index] === null)
      if (missing.length === 0) return cached
      const accounts = await store.findAccounts(missing)
      const found = new Map(missing.map((channel, index) => [keyOf(channel), accounts[index] ?? null]))
      for (const channel of missing) {
        const account = found.get(keyOf(channel)) ?? null
        if (account !== null) remember(channel, { account, isFunded: false })
      }
      return channels.map((channel, index) => cached[index] ?? found.get(keyOf(channel)) ?? null)
    },
    bind: async (channel, options) => {
      const binding = known.get(keyOf(channel))
      const isKnown = binding !== undefined && (binding.isFunded || !options.isFunded)
      if (isKnown || (binding !== undefined && binding.account !== channel.account)) {
        return { account: binding.account }
      }
      const bound = await store.bind(channel, options)
      if ('account' in bound) remember(channel, { account: bound.account, isFunded: options.isFunded })
      return bound
    },
    recordRefund: store.recordRefund,
    findRefund: store.findRefund,
  }
}
