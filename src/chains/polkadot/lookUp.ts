import { AppError } from '../../errors.js'
import type { Fields } from '../../protocol/fields.js'
import type { DirectTransfer, LookUp, LookUpQuery } from '../../schemes/exactDirect/directChain.js'
import type { ReadTransaction } from '../common/direct/crossCheck.js'
import type { Ask } from '../common/direct/node.js'
import type { AccountKey } from './addresses.js'
import type { BlockIndex } from './blockIndex.js'
import type { ExtrinsicEvents, Runtimes } from './decoder.js'
import { hashExtrinsic, readSigner } from './extrinsic.js'
import {
  type BlockReference,
  findHeader,
  getBestNumber,
  getBlock,
  getBlockTime,
  getEvents,
  getFinalizedBlock,
  listBlockHashes,
  toReference,
} from './rpc.js'
import type { OrderedTransfer, SignedExtrinsic, SignedHashes } from './signedExtrinsic.js'

interface LookUpDependencies {
  readonly network: { readonly network: string; readonly chainId: string }
  readonly index: BlockIndex
  readonly runtimes: Runtimes
  readonly addresses: ReadAddress
}

/** An extrinsic of a final block. */
interface PlacedExtrinsic {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  readonly extrinsics: readonly string[]
  readonly extrinsicIndex: number
}

/** Only extrinsics of final blocks are successful or failed. */
export const createLookUp = ({
  network: { network, chainId },
  index,
  runtimes,
  addresses,
}: LookUpDependencies): ReadTransaction => {
  const readEvidence = async (
    query: LookUpQuery,
    ask: Ask,
    { number, hash, parentHash, extrinsics, extrinsicIndex }: PlacedExtrinsic,
  ): Promise<LookUp> => {
    const [decoder, events, includedAt] = await Promise.all([
      // A block is executed by the runtime of its parent's state: an upgrade counts from the next block on.
      runtimes.getDecoder(ask, parentHash),
      getEvents(ask, hash),
      getBlockTime(ask, hash),
    ])
    const extrinsic = extrinsics[extrinsicIndex] ?? ''
    const { outcome, transfers, remarks } = decoder.readEvents(events, extrinsicIndex)
    if (outcome === null) throw new Error('The node returned a block without the outcome of an extrinsic')
    if (outcome === 'failure') return { state: 'failed' }
    const signer = readSigner(extrinsic)
    const own = remarks.filter(({ sender }) => sender === signer)
    // Several remarks: none is the payment's.
    const [remark] = own.length === 1 ? own : []
    const memo = remark === undefined ? null : decoder.findRemark(extrinsic, remark.hash)
    const found = {
      state: 'successful',
      includedAt,
      transfers: readTransfers({ signer, transfers, memo }, query, addresses),
    } as const
    if (signer === null || !found.transfers.some(({ from }) => from === query.from)) return found
    const signed = decoder.readSigned(extrinsic)
    if (signed === null) return { ...found, isUnverified: true }
    if (!signed.isSignedBy(signer, await readSignedHashes(ask, signed, number))) {
      // No block of the chain holds an extrinsic with a wrong signature.
      throw new AppError(
        'SERVICE_UNAVAILABLE',
        `A node of ${network} returned an extrinsic that its signer did not sign`,
        { operationalCode: 'SVC-2004', retryAfterSeconds: 10 },
      )
    }
    const isVerified = areOrdered(found.transfers, signed.orders, { query, ...addresses })
    return isVerified ? found : { ...found, isUnverified: true }
  }

  /** A wrong hash only makes a signature invalid, so the node that stated the extrinsic is asked. */
  const readSignedHashes = async (
    ask: Ask,
    { era }: SignedExtrinsic,
    blockNumber: number,
  ): Promise<SignedHashes> => {
    const [genesisHash, eraHash] = await listBlockHashes(ask, [0, era.findStart(blockNumber)])
    if (genesisHash == null || eraHash == null) throw new Error('The node does not know a final block')
    if (toReference(genesisHash) !== chainId) throw new Error('The node returned a block of another chain')
    return { genesisHash, eraHash }
  }

  /** Null if the block does not hold the extrinsic, or is not on the chain of the finalized block. */
  const place = async (
    ask: Ask,
    finalized: BlockReference,
    block: BlockReference,
    transaction: string,
  ): Promise<PlacedExtrinsic | null> => {
    if (block.number > finalized.number) return null
    const [hash, finalHash] = await listBlockHashes(ask, [block.number, finalized.number])
    if (finalHash !== finalized.hash) throw new Error('The nodes disagree about the finalized block')
    if (hash !== block.hash) return null
    const { parentHash, extrinsics } = await getBlock(ask, block.hash)
    const extrinsicIndex = extrinsics.findIndex((extrinsic) => hashExtrinsic(extrinsic) === transaction)
    return extrinsicIndex === -1 ? null : { ...block, parentHash, extrinsics, extrinsicIndex }
  }

  /** A block that the payload names, if it holds the extrinsic. */
  const followHint = async (ask: Ask, finalized: BlockReference, { hints, transaction }: LookUpQuery) => {
    const hash = readHint(hints)
    if (hash === null) return null
    const header = await findHeader(ask, hash)
    return header === null ? null : await place(ask, finalized, { number: header.number, hash }, transaction)
  }

  return async (query, ask) => {
    const { transaction, notBefore } = query
    const finalized = await getFinalizedBlock(ask)
    const [known] = index.find(transaction)
    const hinted = known === undefined ? await followHint(ask, finalized, query) : null
    if (hinted !== null) return await readEvidence(query, ask, hinted)
    const isComplete = await index.follow(ask, finalized, notBefore)
    const [first, second] = index.find(transaction)
    // An immortal extrinsic that was included again after its account had been removed: the hash names two payments.
    if (second !== undefined)
      return { state: 'successful', includedAt: await getBlockTime(ask, second.hash), transfers: [] }
    const found = first === undefined ? null : await place(ask, finalized, first, transaction)
    if (found !== null) return await readEvidence(query, ask, found)
    // A witness that has not finalized the block yet, or a part of the chain that is still to be read.
    if (first !== undefined || !isComplete) return { state: 'pending' }
    const best = await getBestNumber(ask)
    const isPending = await index.isInBestBlocks(ask, finalized, best, transaction)
    return { state: isPending ? 'pending' : 'missing' }
  }
}

const hashForm = /^0x[0-9a-fA-F]{64}$/

const readHint = ({ blockHash }: Fields): string | null =>
  typeof blockHash === 'string' && hashForm.test(blockHash) ? blockHash.toLowerCase() : null

/** Converts between public keys and the SS58 addresses of the network. */
interface ReadAddress {
  format(key: AccountKey): string
}

interface Evidence extends Pick<ExtrinsicEvents, 'transfers'> {
  readonly signer: AccountKey | null
  readonly memo: string | null
}

/**
 * What the signer paid. Transfers out of other accounts, such as by a proxy, are no payment of either: the signer's funds
 * did not move, and the owner signed nothing. They are listed only if they go back to the signer.
 */
const readTransfers = (
  { signer, transfers, memo }: Evidence,
  query: Pick<LookUpQuery, 'from'>,
  { format }: ReadAddress,
): readonly DirectTransfer[] =>
  transfers.flatMap(({ asset, from, to, amount }) => {
    const transfer = { asset, from: format(from), to: format(to), amount, memo }
    const isRefund = to === signer && transfer.from !== query.from
    return from === signer || isRefund ? [transfer] : []
  })

/** Whether the calls that the payer signed order at least what the events report; less happens if a batch is interrupted. */
const areOrdered = (
  transfers: readonly DirectTransfer[],
  orders: readonly OrderedTransfer[],
  { query, format }: ReadAddress & { readonly query: Pick<LookUpQuery, 'asset' | 'from' | 'to'> },
): boolean => {
  const reported = transfers.filter(
    ({ asset, from, to }) => asset === query.asset && from === query.from && to === query.to,
  )
  const ordered = orders.filter(({ asset, to }) => asset === query.asset && format(to) === query.to)
  return sum(reported) <= sum(ordered)
}

const sum = (moved: readonly { readonly amount: bigint }[]): bigint =>
  moved.reduce((total, { amount }) => total + amount, 0n)
