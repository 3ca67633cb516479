import { z } from 'zod'
import {
  blockHashShape,
  blocksOnTop,
  naturalShape,
  operationHashShape,
  type Read,
  type Source,
  statusShape,
  type TransferCall,
  timeShape,
  transferShapeOf,
} from './source.js'

const headShape = z.object({
  chainId: z.string(),
  synced: z.boolean(),
  level: z.int().nonnegative(),
  timestamp: timeShape,
})

const account = z.object({ address: z.string() })

const rowShape = z.object({
  hash: operationHashShape,
  block: blockHashShape,
  level: z.int().nonnegative(),
  timestamp: timeShape,
  sender: account,
  /** Both only of calls between contracts. */
  initiator: account.nullish(),
  nonce: z.int().nullish(),
  target: account.nullish(),
  parameter: z.object({ entrypoint: z.string(), value: z.unknown() }).nullish(),
  status: statusShape,
})

type Row = z.infer<typeof rowShape>

const rowsShape = z.array(rowShape)

const transferShape = transferShapeOf(naturalShape)

/** Empty for an owner that the token does not know. */
const balancesShape = z.union([z.tuple([]), z.tuple([naturalShape])])

/** Reads the API of the indexer TzKT, which finds operations by their hash. */
export const createTzktSource = (read: Read, chainId: string): Source => {
  const getHead = async () => {
    const head = await read('/head', headShape)
    if (!head.synced) throw new Error('The indexer is behind its node')
    return head
  }

  return {
    getHead: async () => {
      const { chainId: served, level, timestamp } = await getHead()
      return { chainId: served, level, time: timestamp }
    },
    findOperation: async ({ hash }) => {
      // The head first: what it has on top of a block then, the block has at least.
      const head = await getHead()
      if (head.chainId !== chainId) throw new Error(`The indexer serves chain ${head.chainId}`)
      const rows = await read(`/operations/transactions/${hash}`, rowsShape)
      const [first] = rows
      if (first === undefined) return { state: 'missing' }
      if (!rows.every((row) => row.hash === hash && row.block === first.block)) {
        throw new Error('The indexer returned another operation')
      }
      if (first.level > head.level - blocksOnTop) return { state: 'pending' }
      return {
        state: 'final',
        includedAt: first.timestamp,
        isApplied: rows.every(({ status }) => status === 'applied'),
        calls: rows.flatMap(listCalls),
      }
    },
    hasToken: async ({ contract, tokenId }) =>
      (await read(`/tokens/count?contract=${contract}&tokenId=${tokenId}`, z.int().nonnegative())) > 0,
    readBalance: async ({ contract, tokenId, owner }) => {
      const filter = `account=${owner}&token.contract=${contract}&token.tokenId=${tokenId}`
      const [balance = '0'] = await read(`/tokens/balances?${filter}&select=balance`, balancesShape)
      return BigInt(balance)
    },
  }
}

const isPresent = <T>(value: T): value is NonNullable<T> => value !== null && value !== undefined

const listCalls = ({ initiator, nonce, sender, target, parameter }: Row): readonly TransferCall[] => {
  if (isPresent(initiator) || isPresent(nonce)) return []
  if (!isPresent(target) || parameter?.entrypoint !== 'transfer') return []
  // Another type: then it is no FA2 contract.
  const transfers = transferShape.safeParse(parameter.value)
  return [
    { source: sender.address, destination: target.address, entries: transfers.success ? transfers.data : [] },
  ]
}
