import { Account, Aptos, AptosConfig, type InputEntryFunctionData, Network } from '@aptos-labs/ts-sdk'
import { writeDirectBody } from '../directBody.js'
import { waitLimitMs } from '../pollUntil.js'
import type { AptosChain } from './aptosChain.js'

export const aptosTestnet = 'aptos:2'
/** Stands for USDT on testnet; starts with a zero byte, because nodes may write it shorter. */
export const usdt = `0x00${'4a'.repeat(31)}`

export const createAptosAccount = (chain: AptosChain): Account => {
  const account = Account.generate()
  chain.createAccount(account.accountAddress.toStringLong())
  return account
}

export const addressOf = (account: Account): string => account.accountAddress.toStringLong()

const connect = (url: string): Aptos =>
  new Aptos(new AptosConfig({ network: Network.TESTNET, fullnode: url }))

/** Builds, signs and submits with the ordinary client library; resolves with the hash. */
export const submitCall = async (
  chain: AptosChain,
  payer: Account,
  data: InputEntryFunctionData,
): Promise<string> => {
  const aptos = connect(chain.url)
  const transaction = await aptos.transaction.build.simple({
    sender: payer.accountAddress,
    data,
    options: { expireTimestamp: Math.floor(chain.ledger.head().timestampMs / 1_000) + 300 },
  })
  const { hash } = await aptos.signAndSubmitTransaction({ signer: payer, transaction })
  return hash
}

/** As `submitCall`, and resolves when it is in a block. */
export const call = async (
  chain: AptosChain,
  payer: Account,
  data: InputEntryFunctionData,
): Promise<string> => {
  const hash = await submitCall(chain, payer, data)
  const options = { checkSuccess: false, timeoutSecs: waitLimitMs / 1_000 }
  await connect(chain.url).waitForTransaction({ transactionHash: hash, options })
  return hash
}

export const transferCall = (asset: string, to: string, amount: bigint): InputEntryFunctionData => ({
  function: '0x1::primary_fungible_store::transfer',
  typeArguments: ['0x1::fungible_asset::Metadata'],
  functionArguments: [asset, to, amount],
})

interface ProvedPayment {
  readonly transaction: string
  readonly from: string
  readonly payTo: string
  readonly asset?: string
  readonly amount?: bigint
  readonly maxTimeoutSeconds?: number
  readonly extra?: Readonly<Record<string, unknown>>
  /** Default: the asset. */
  readonly metadataAddress?: unknown
  readonly claim?: { readonly signature: string; readonly publicKey?: string } | undefined
}

/** The body of /verify and /settle, with the payload as the published client writes it. */
export const aptosPayment = ({
  transaction,
  from,
  payTo,
  asset = usdt,
  amount = 10_000n,
  maxTimeoutSeconds = 300,
  extra = {},
  metadataAddress = asset,
  claim,
}: ProvedPayment) => {
  const terms = {
    network: aptosTestnet,
    asset: `${aptosTestnet}/fa:${asset}`,
    amount,
    payTo,
    maxTimeoutSeconds,
    extra,
    resource: 'https://shop.example/report',
  }
  return writeDirectBody(terms, {
    txHash: transaction,
    from,
    metadataAddress,
    ...(claim === undefined ? {} : { claim }),
  })
}

export type AptosPaymentBody = ReturnType<typeof aptosPayment>
