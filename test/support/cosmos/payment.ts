import { randomBytes } from 'node:crypto'
import { DirectSecp256k1Wallet, type EncodeObject } from '@cosmjs/proto-signing'
import { SigningStargateClient } from '@cosmjs/stargate'
import { MsgExec } from 'cosmjs-types/cosmos/authz/v1beta1/tx'
import { MsgSend } from 'cosmjs-types/cosmos/bank/v1beta1/tx'
import { TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import { writeDirectBody } from '../directBody.js'
import { waitLimitMs } from '../pollUntil.js'
import type { CosmosChain } from './cosmosChain.js'
import { feeDenom } from './ledger.js'
import { hashOf, messageUrls } from './transaction.js'

/** An account, used through @cosmjs/stargate. */
export interface CosmosWallet {
  readonly address: string
  readonly privateKey: Uint8Array
  /** Compressed. */
  readonly publicKey: Uint8Array
  readonly client: SigningStargateClient
}

const pollIntervalMs = 20

export const createWallet = async (chain: CosmosChain): Promise<CosmosWallet> => {
  const privateKey = Uint8Array.from(randomBytes(32))
  const signer = await DirectSecp256k1Wallet.fromKey(privateKey, chain.ledger.prefix)
  const [account] = await signer.getAccounts()
  if (account === undefined) throw new Error('The wallet has no account')
  const client = await SigningStargateClient.connectWithSigner(chain.url, signer, {
    broadcastPollIntervalMs: pollIntervalMs,
    broadcastTimeoutMs: waitLimitMs,
  })
  client.registry.register(messageUrls.exec, MsgExec)
  return { address: account.address, privateKey, publicKey: account.pubkey, client }
}

interface SendTerms {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly denom?: string
}

export const sendMessage = ({ from, to, amount, denom = feeDenom }: SendTerms): EncodeObject => ({
  typeUrl: messageUrls.send,
  value: { fromAddress: from, toAddress: to, amount: [{ denom, amount: `${amount}` }] },
})

export const multiSendMessage = (
  from: string,
  outputs: readonly { readonly to: string; readonly amount: bigint }[],
): EncodeObject => ({
  typeUrl: messageUrls.multiSend,
  value: {
    inputs: [
      {
        address: from,
        coins: [{ denom: feeDenom, amount: `${outputs.reduce((sum, { amount }) => sum + amount, 0n)}` }],
      },
    ],
    outputs: outputs.map(({ to, amount }) => ({
      address: to,
      coins: [{ denom: feeDenom, amount: `${amount}` }],
    })),
  },
})

/** The grantee sends funds of another account (authz). */
export const execMessage = (grantee: string, terms: SendTerms): EncodeObject => {
  const { value } = sendMessage(terms)
  return {
    typeUrl: messageUrls.exec,
    value: MsgExec.fromPartial({
      grantee,
      msgs: [{ typeUrl: messageUrls.send, value: MsgSend.encode(MsgSend.fromPartial(value)).finish() }],
    }),
  }
}

interface SignOptions {
  readonly memo?: string
  readonly gas?: string
}

/** Signed, not sent. */
export const sign = async (
  { address, client }: CosmosWallet,
  messages: readonly EncodeObject[],
  { memo = '', gas = '200000' }: SignOptions = {},
): Promise<Uint8Array> => {
  const fee = { amount: [{ denom: feeDenom, amount: '20000' }], gas }
  return TxRaw.encode(await client.sign(address, messages, fee, memo)).finish()
}

/** Signs, sends and waits for the block with @cosmjs/stargate; returns the hash, also of a failed transaction. */
export const send = async (
  wallet: CosmosWallet,
  messages: readonly EncodeObject[],
  options: SignOptions = {},
): Promise<string> => {
  const bytes = await sign(wallet, messages, options)
  const { transactionHash } = await wallet.client.broadcastTx(bytes, waitLimitMs, pollIntervalMs)
  return transactionHash
}

export const submit = async (wallet: CosmosWallet, bytes: Uint8Array): Promise<string> => {
  await wallet.client.broadcastTxSync(bytes)
  return hashOf(bytes)
}

export interface CosmosTerms {
  readonly asset?: string
  readonly payTo: string
  readonly amount: bigint
  readonly network?: string
  readonly maxTimeoutSeconds?: number
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The body of a payment that was made. */
export const cosmosBody = (
  {
    asset = feeDenom,
    payTo,
    amount,
    network = 'cosmos:grand-1',
    maxTimeoutSeconds = 120,
    extra = {},
  }: CosmosTerms,
  payload: {
    readonly txHash: string
    readonly from: string
    readonly denom?: unknown
    readonly claim?: unknown
  },
) => writeDirectBody({ network, asset, amount, payTo, maxTimeoutSeconds, extra }, payload)
