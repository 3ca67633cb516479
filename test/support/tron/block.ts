import { fromHex, hashHex } from './keys.js'
import { encodeMessage } from './protobuf.js'
import type { DecodedTransaction } from './transaction.js'

/** The id starts with the block number. */
export interface TronBlock {
  readonly id: string
  readonly number: number
  readonly timestamp: number
  readonly parentId: string
  readonly transactions: readonly DecodedTransaction[]
}

const witness = '41928c9af0651632157ef27a2cf17ca72c575a4d21'
const noParent = '0'.repeat(64)

export const createBlock = (
  parent: TronBlock | null,
  timestamp: number,
  transactions: readonly DecodedTransaction[],
): TronBlock => {
  const number = parent === null ? 0 : parent.number + 1
  const parentId = parent?.id ?? noParent
  const header = encodeMessage('HeaderRaw', {
    timestamp,
    number,
    txTrieRoot: fromHex(hashHex(transactions.map(({ id }) => id).join(''))),
    parentHash: fromHex(parentId),
    witness_address: fromHex(witness),
    version: 31,
  })
  const id = `${number.toString(16).padStart(16, '0')}${hashHex(header).slice(16)}`
  return { id, number, timestamp, parentId, transactions }
}

export const toJsonHeader = ({ id, number, timestamp, parentId }: TronBlock) => ({
  blockID: id,
  block_header: {
    raw_data: {
      number,
      timestamp,
      parentHash: parentId,
      witness_address: witness,
      version: 31,
      txTrieRoot: noParent,
    },
    witness_signature: '',
  },
})
