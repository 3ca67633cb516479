import { randomBytes } from 'node:crypto'
import { InMemorySigner } from '@taquito/signer'
import {
  type ContractMethodObject,
  type ContractProvider,
  TezosToolkit,
  type TransferParams,
} from '@taquito/taquito'
import { writeDirectBody } from '../directBody.js'
import { pollUntil } from '../pollUntil.js'
import { contractOf, encode } from './base58.js'
import type { TezosChain } from './tezosChain.js'

export const ghostnet = 'tezos:NetXnHfVqm9iesp'
/** Stands for USDt; token 0. */
export const usdt = contractOf('usdt')

export interface TezosAccount {
  readonly address: string
  readonly signer: InMemorySigner
}

export const createTezosAccount = async (chain: TezosChain): Promise<TezosAccount> => {
  const signer = await InMemorySigner.fromSecretKey(encode('edskSeed', randomBytes(32)))
  const address = await signer.publicKeyHash()
  chain.createAccount(address)
  return { address, signer }
}

const connect = (url: string, { signer }: TezosAccount): TezosToolkit => {
  const toolkit = new TezosToolkit(url)
  toolkit.setProvider({ signer })
  return toolkit
}

const limits = { gasLimit: 5_000, storageLimit: 200, fee: 1_000 }

type Method = ContractMethodObject<ContractProvider>

/** Resolves when the operation is in a block with this many on top. */
export const waitForBlocks = async (chain: TezosChain, hash: string, onTop = 2): Promise<string> => {
  await pollUntil(() => {
    const { level } = chain.ledger.head()
    return chain.ledger
      .blocks()
      .some(
        (block) =>
          block.level <= level - onTop && block.operations.some(({ operation }) => operation.hash === hash),
      )
  }, 'the operation to be final')
  return hash
}

/** Forged, signed and injected by the ordinary client library; resolves with the hash. */
export const submitCall = async (
  chain: TezosChain,
  payer: TezosAccount,
  contract: string,
  toMethod: (methods: Record<string, (...given: unknown[]) => Method>) => Method | undefined,
): Promise<string> => {
  const found = await connect(chain.url, payer).contract.at(contract)
  const method = toMethod(found.methodsObject)
  if (method === undefined) throw new Error('The contract has no such entrypoint')
  return (await method.send(limits)).hash
}

export const submitBatch = async (
  chain: TezosChain,
  payer: TezosAccount,
  contract: string,
  parameters: readonly unknown[],
): Promise<string> => {
  const toolkit = connect(chain.url, payer)
  const { methodsObject } = await toolkit.contract.at(contract)
  const batch = toolkit.contract.batch()
  for (const parameter of parameters) {
    const method = methodsObject.transfer?.(parameter)
    if (method !== undefined) batch.withTransfer(method.toTransferParams(limits))
  }
  return (await batch.send()).hash
}

export const submitTransfer = async (
  chain: TezosChain,
  payer: TezosAccount,
  transfer: Pick<TransferParams, 'to' | 'parameter'>,
): Promise<string> => {
  const toolkit = connect(chain.url, payer)
  return (await toolkit.contract.transfer({ amount: 0, ...limits, ...transfer })).hash
}

interface Transfer {
  readonly to: string
  readonly amount: bigint | number
  readonly tokenId?: number
}

/** One entry of the parameter of `transfer`. */
export const batchOf = (from: string, ...transfers: readonly Transfer[]) => ({
  from_: from,
  txs: transfers.map(({ to, amount, tokenId = 0 }) => ({
    to_: to,
    token_id: tokenId,
    amount: String(amount),
  })),
})

/** Calls `transfer`, and resolves when it is final. */
export const pay = async (
  chain: TezosChain,
  payer: TezosAccount,
  batches: readonly unknown[],
  contract = usdt,
): Promise<string> =>
  waitForBlocks(chain, await submitCall(chain, payer, contract, ({ transfer }) => transfer?.(batches)))

interface ProvedPayment {
  readonly transaction: string
  readonly from: string
  readonly payTo: string
  /** `KT1…/<token id>`. */
  readonly asset?: string
  readonly amount?: bigint
  readonly maxTimeoutSeconds?: number
  readonly extra?: Readonly<Record<string, unknown>>
  /** Of the payload; default those of the asset. */
  readonly contractAddress?: unknown
  readonly tokenId?: unknown
  readonly claim?: { readonly signature: string; readonly publicKey?: string } | undefined
}

/** The body of /verify and /settle, with the payload as the published client writes it. */
export const tezosPayment = ({
  transaction,
  from,
  payTo,
  asset = `${usdt}/0`,
  amount = 10_000n,
  maxTimeoutSeconds = 120,
  extra = {},
  contractAddress = asset.split('/')[0],
  tokenId = Number(asset.split('/')[1] ?? 0),
  claim,
}: ProvedPayment) => {
  const terms = {
    network: ghostnet,
    asset: `${ghostnet}/fa2:${asset}`,
    amount,
    payTo,
    maxTimeoutSeconds,
    extra,
    resource: 'https://shop.example/report',
  }
  return writeDirectBody(terms, {
    opHash: transaction,
    from,
    contractAddress,
    tokenId,
    ...(claim === undefined ? {} : { claim }),
  })
}

export type TezosPaymentBody = ReturnType<typeof tezosPayment>
