import { type Address, Cell } from '@ton/core'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { isAnycast, isEmpty, readAddress, tryParse } from '../encoding/cells.js'
import type { Rpc, StackEntry } from '../rpc/rpc.js'

export interface JettonRegistry {
  isOffered(master: Address): boolean
  /** Whether the contract answers as the master of a jetton does. */
  isDeployed(master: string): Promise<boolean>
  /** `get_wallet_address` of the master; null if it does not answer. */
  findWallet(master: Address, owner: Address): Promise<Address | null>
  readBalance(wallet: Address): Promise<bigint>
  /** Balance of an owner, 0 without a wallet. Null if the master or the wallet does not answer as a jetton does. */
  findBalance(master: Address, owner: Address): Promise<bigint | null>
}

interface JettonPolicy {
  readonly tokens: readonly { readonly asset: string }[]
  readonly acceptsAnyToken: boolean
}

// The address follows from the master's code and cannot change.
const maxCached = 10_000

export const createJettonRegistry = (rpc: Rpc, policy: JettonPolicy): JettonRegistry => {
  const accepted = new Set(policy.tokens.map(({ asset }) => parseMaster(asset).toRawString()))
  const cache = new Map<string, Address>()

  const findWallet = async (master: Address, owner: Address): Promise<Address | null> => {
    const key = `${master.toRawString()} ${owner.toRawString()}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const [entry] = (await rpc.runGetMethod(master, 'get_wallet_address', [owner])) ?? []
    const wallet = readAddressEntry(entry)
    if (wallet === null) return null
    setNewest(cache, key, wallet, maxCached)
    return wallet
  }

  return {
    isOffered: (master) => policy.acceptsAnyToken || accepted.has(master.toRawString()),
    isDeployed: async (text) => {
      const master = parseMaster(text)
      return (await findWallet(master, master)) !== null
    },
    findWallet,
    readBalance: async (wallet) => {
      const [balance] = (await rpc.runGetMethod(wallet, 'get_wallet_data')) ?? []
      return typeof balance === 'bigint' ? balance : 0n
    },
    findBalance: async (master, owner) => {
      const wallet = await findWallet(master, owner)
      if (wallet === null) return null
      const data = await rpc.runGetMethod(wallet, 'get_wallet_data')
      // An undeployed wallet has no methods.
      if (data === null) return 0n
      const [balance] = data
      return typeof balance === 'bigint' && balance >= 0n && balance < maxCoins ? balance : null
    },
  }
}

// VarUInteger 16 of block.tlb: 15 bytes.
const maxCoins = 2n ** 120n

const parseMaster = (text: string): Address => {
  const master = readAddress(text)
  if (master === null) throw new Error('TON_TOKENS: an address has a wrong checksum')
  return master
}

const readAddressEntry = (entry: StackEntry | undefined): Address | null =>
  entry instanceof Cell ? tryParse(() => entry.beginParse().loadAddress()) : null

/** Operation `transfer` (TEP-74). */
const transferOperation = 0x0f8a7ea5

/** Operation `internal_transfer` (TEP-74). */
const internalTransferOperation = 0x178d4519

export interface JettonTransfer {
  readonly queryId: bigint
  readonly amount: bigint
  readonly destination: Address
  /** Receives excess TON; null: it stays in the jetton wallet. */
  readonly responseDestination: Address | null
  readonly hasCustomPayload: boolean
  readonly forwardNanoTon: bigint
  readonly forwardPayload: Cell
}

/** Null for any other body. */
export const readJettonTransfer = (body: Cell): JettonTransfer | null =>
  tryParse(() => {
    const slice = body.beginParse()
    if (slice.loadUint(32) !== transferOperation) return null
    const queryId = slice.loadUintBig(64)
    const amount = slice.loadCoins()
    if (isAnycast(slice)) return null
    const destination = slice.loadAddress()
    if (isAnycast(slice)) return null
    const transfer = {
      queryId,
      amount,
      destination,
      responseDestination: slice.loadMaybeAddress(),
      hasCustomPayload: slice.loadMaybeRef() !== null,
      forwardNanoTon: slice.loadCoins(),
    }
    const isReferenced = slice.loadBit()
    const forwardPayload = isReferenced ? slice.loadRef() : slice.asCell()
    return isReferenced && !isEmpty(slice) ? null : { ...transfer, forwardPayload }
  })

/** Amount of an internal_transfer; null for any other body. */
export const readCreditedAmount = (body: Cell): bigint | null =>
  tryParse(() => {
    const slice = body.beginParse()
    return slice.loadUint(32) === internalTransferOperation ? slice.skip(64).loadCoins() : null
  })
