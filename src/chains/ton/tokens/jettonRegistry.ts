import { type Address, Cell } from '@ton/core'
import { readAddress, tryParse } from '../encoding/cells.js'
import type { StackEntry, Toncenter } from '../rpc/rpc.js'

/** The jettons of one network: those that are settled, and where their owners' coins are. */
export interface JettonRegistry {
  isSettled(master: Address): boolean
  /** Where an owner's coins are, as the master says; null where it does not say. */
  findWallet(master: Address, owner: Address): Promise<Address | null>
  /** How many coins are in a jetton wallet; 0 where there is none. */
  readBalance(wallet: Address): Promise<bigint>
}

/** What the operator says of jettons. */
export interface JettonPolicy {
  readonly tokens: readonly string[]
  readonly acceptsAnyToken: boolean
}

// A master computes the address from its own code; what it said once stays true.
const maxCached = 10_000

/** Opens the book; throws where the operator lists what is no address. */
export const createJettonRegistry = (api: Toncenter, policy: JettonPolicy): JettonRegistry => {
  const settled = new Set(policy.tokens.map((text) => parseMaster(text).toRawString()))
  const known = new Map<string, Address>()

  return {
    isSettled: (master) => policy.acceptsAnyToken || settled.has(master.toRawString()),
    findWallet: async (master, owner) => {
      const key = `${master.toRawString()} ${owner.toRawString()}`
      const remembered = known.get(key)
      if (remembered !== undefined) return remembered
      const [entry] = (await api.runGetMethod(master, 'get_wallet_address', [owner])) ?? []
      const wallet = readAddressEntry(entry)
      if (wallet === null) return null
      const [oldest] = known.keys()
      if (known.size >= maxCached && oldest !== undefined) known.delete(oldest)
      known.set(key, wallet)
      return wallet
    },
    readBalance: async (wallet) => {
      const [balance] = (await api.runGetMethod(wallet, 'get_wallet_data')) ?? []
      return typeof balance === 'bigint' ? balance : 0n
    },
  }
}

const parseMaster = (text: string): Address => {
  const master = readAddress(text)
  if (master === null) throw new Error('TON_TOKENS: one of the addresses has a wrong checksum')
  return master
}

const readAddressEntry = (entry: StackEntry | undefined): Address | null =>
  entry instanceof Cell ? tryParse(() => entry.beginParse().loadAddress()) : null
