import { type Address, beginCell, type Cell, type StateInit, storeStateInit } from '@ton/core'
import type { Reason } from '../../../protocol/reasons.js'
import { tryParse } from '../encoding/cells.js'
import type { Account } from '../rpc/rpc.js'
import type { RequestLayout, WalletMessage } from './walletMessage.js'

export interface WalletState {
  readonly layout: RequestLayout
  readonly seqno: number
  readonly walletId: number
  readonly publicKey: Buffer
  /** W5 can disable signatures, so that only extensions act. */
  readonly isSignatureAllowed: boolean
  /** Extensions or plugins can act without increasing the seqno. */
  readonly hasExtensions: boolean
  readonly isDeployed: boolean
}

type WalletFinding = { readonly wallet: WalletState } | { readonly refusedAs: Reason }

/**
 * Code hashes of v3r1, v3r2, v4r2 and v5r1. Any other contract could misreport its key and seqno, or execute
 * a request differently.
 */
const knownCode: ReadonlyMap<string, RequestLayout> = new Map([
  ['b61041a58a7980b946e8fb9e198e3c904d24799ffa36574ea4251c41a566f581', 'v3'],
  ['84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599', 'v3'],
  ['feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0', 'v4'],
  ['20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f', 'v5'],
])

/** Reads the deployed wallet, or the state init that its first message carries. */
export const findWallet = (
  account: Pick<Account, 'state' | 'code' | 'data'>,
  { wallet, init }: WalletMessage,
): WalletFinding => {
  switch (account.state) {
    case 'frozen':
      return { refusedAs: 'account_frozen' }
    case 'active':
      return readWallet(account.code, account.data, true)
    case 'uninitialized':
      return readUndeployed(wallet, init)
  }
}

const readUndeployed = (address: Address, init: StateInit | null): WalletFinding => {
  if (init === null || !isAddressOf(init, address)) return { refusedAs: 'wallet_not_deployed' }
  const finding = readWallet(init.code ?? null, init.data ?? null, false)
  // Only W5 accepts a request in the internal message that deploys it.
  return 'wallet' in finding && finding.wallet.layout !== 'v5'
    ? { refusedAs: 'wallet_not_deployed' }
    : finding
}

/** The address is the hash of the state init, which binds the public key to it. */
const isAddressOf = (init: StateInit, address: Address): boolean => {
  const hash = tryParse(() => beginCell().store(storeStateInit(init)).endCell().hash())
  return hash?.equals(address.hash) === true
}

const readWallet = (code: Cell | null, data: Cell | null, isDeployed: boolean): WalletFinding => {
  const layout = knownCode.get(code?.hash().toString('hex') ?? '')
  const state = layout === undefined || data === null ? null : readData(layout, data)
  return state === null || layout === undefined
    ? { refusedAs: 'invalid_exact_tvm_payload_invalid_code_hash' }
    : { wallet: { layout, ...state, isDeployed } }
}

const readData = (layout: RequestLayout, data: Cell) =>
  tryParse(() => {
    const slice = data.beginParse()
    const isSignatureAllowed = layout === 'v5' ? slice.loadBit() : true
    const fields = {
      isSignatureAllowed,
      seqno: slice.loadUint(32),
      walletId: slice.loadUint(32),
      publicKey: slice.loadBuffer(32),
    }
    return { ...fields, hasExtensions: layout === 'v3' ? false : slice.loadBit() }
  })
