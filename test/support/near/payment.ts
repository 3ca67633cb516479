import { createHash, randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import {
  Account,
  actions,
  encodeTransaction,
  JsonRpcProvider,
  KeyPair,
  KeyPairSigner,
  type KeyPair as KeyPairType,
} from 'near-api-js'
import { writeDirectBody } from '../directBody.js'
import type { NearChain } from './nearChain.js'

/** An account with one full-access key, used through near-api-js. */
export interface NearWallet {
  readonly id: string
  readonly publicKey: string
  readonly key: KeyPairType
  /** A new one each time: an account object caches the nonce, which delegate actions use too. */
  readonly account: Account
}

export const createWallet = (chain: NearChain, id: string): NearWallet => {
  const key = KeyPair.fromRandom('ed25519')
  const publicKey = key.getPublicKey().toString()
  chain.addAccount(id, publicKey)
  const provider = new JsonRpcProvider({ url: chain.url }, { retries: 2, wait: 20, backoff: 1.2 })
  return {
    id,
    publicKey,
    key,
    get account() {
      return new Account(id, provider, new KeyPairSigner(key))
    },
  }
}

/** An account id that no other test uses. */
export const newAccountId = (name: string): string => `${name}-${randomBytes(6).toString('hex')}.testnet`

export type NearCall = ReturnType<typeof actions.functionCall>

const gas = 30_000_000_000_000n

interface TransferArgs {
  readonly to: string
  readonly amount: bigint
  readonly memo?: string
}

export const transferCall = ({ to, amount, memo }: TransferArgs, deposit = 1n): NearCall =>
  actions.functionCall(
    'ft_transfer',
    { receiver_id: to, amount: `${amount}`, ...(memo === undefined ? {} : { memo }) },
    gas,
    deposit,
  )

/** `ft_transfer_call`: the receiver decides what it returns. */
export const transferAndCall = ({ to, amount }: TransferArgs): NearCall =>
  actions.functionCall('ft_transfer_call', { receiver_id: to, amount: `${amount}`, msg: '' }, gas, 1n)

export const contractCall = (method: string, args: object): NearCall =>
  actions.functionCall(method, args, gas, 0n)

type WaitUntil = 'NONE' | 'INCLUDED' | 'FINAL'

/** Signs and sends with near-api-js; returns the hash. */
export const send = async (
  wallet: NearWallet,
  receiverId: string,
  calls: readonly NearCall[],
  waitUntil: WaitUntil = 'FINAL',
): Promise<string> => {
  const { account } = wallet
  const signed = await account.createSignedTransaction({ receiverId, actions: [...calls] })
  const hash = base58.encode(createHash('sha256').update(encodeTransaction(signed.transaction)).digest())
  await account.provider.sendTransactionUntil(signed, waitUntil)
  return hash
}

/** The payer signs a delegate action, a relayer sends it (NEP-366). */
export const sendRelayed = async (
  payer: NearWallet,
  relayer: NearWallet,
  receiverId: string,
  calls: readonly NearCall[],
): Promise<string> => {
  const { signedDelegate } = await payer.account.createSignedMetaTransaction({
    receiverId,
    actions: [...calls],
  })
  return await send(relayer, payer.id, [actions.signedDelegate(signedDelegate)])
}

export interface NearTerms {
  readonly asset: string
  readonly payTo: string
  readonly amount: bigint
  readonly network?: string
  readonly maxTimeoutSeconds?: number
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The body of a payment that was made. */
export const nearBody = (
  { asset, payTo, amount, network = 'near:testnet', maxTimeoutSeconds = 120, extra = {} }: NearTerms,
  payload: { readonly txHash: string; readonly from: string; readonly claim?: unknown },
) => writeDirectBody({ network, asset, amount, payTo, maxTimeoutSeconds, extra }, payload)
