import { z } from 'zod'
import { RpcError } from '../../../nodes/endpoint.js'
import type { Read } from '../read.js'
import {
  type BalanceQuery,
  blocksOnTop,
  type FoundOperation,
  type Head,
  type OperationQuery,
  type TokenQuery,
  type TransferCall,
} from '../source.js'
import { createBlockCache } from './blockCache.js'
import { findPosition, type Position } from './findPosition.js'
import { decodeTransferParameter } from './transferParameter.js'
import { balancesShapeOf, headerShape, operationShape } from './wireShapes.js'

const notFound = 404

/** Reads an octez node; remembers which operations recent blocks hold. */
export const createOctezSource = (read: Read, chainId: string) => {
  const cache = createBlockCache(read)

  const getHeader = () => read('/chains/main/blocks/head/header', headerShape)

  const readOperation = async ({ block, index }: Position, hash: string): Promise<FoundOperation> => {
    const path = `/chains/main/blocks/${block.hash}/operations/3/${index}?force_metadata=true`
    const operation = await read(path, operationShape)
    if (operation.hash !== hash) throw new Error('The node returned another operation')
    return {
      state: 'final',
      includedAt: block.time,
      isApplied: operation.contents.every(({ metadata }) => metadata.operation_result.status === 'applied'),
      calls: operation.contents.flatMap(listCalls),
    }
  }

  return {
    getHead: async (): Promise<Head> => {
      const { chain_id, level, timestamp } = await getHeader()
      return { chainId: chain_id, level, time: timestamp }
    },
    findOperation: async ({ hash, notBefore }: OperationQuery): Promise<FoundOperation> => {
      const head = await getHeader()
      if (head.chain_id !== chainId) throw new Error(`The node serves chain ${head.chain_id}`)
      const position = await findPosition(cache, { head, operation: hash, notBefore })
      if (position === 'missing') return { state: 'missing' }
      if (position === 'unfinished' || position.onTop < blocksOnTop) return { state: 'pending' }
      return await readOperation(position, hash)
    },
    // Which ids a contract knows only its storage shows, in its own form.
    hasToken: async ({ contract }: TokenQuery): Promise<boolean> => {
      try {
        await read(`/chains/main/blocks/head/context/contracts/${contract}/entrypoints/transfer`, z.unknown())
        return true
      } catch (error) {
        if (error instanceof RpcError && error.code === notFound) return false
        throw error
      }
    },
    // The view of TZIP-12, not the storage: each contract keeps its balances in its own form.
    readBalance: ({ contract, tokenId, owner }: BalanceQuery): Promise<bigint> =>
      read('/chains/main/blocks/head/helpers/scripts/run_view', balancesShapeOf({ owner, tokenId }), {
        contract,
        entrypoint: 'balance_of',
        input: [{ prim: 'Pair', args: [{ string: owner }, { int: tokenId }] }],
        chain_id: chainId,
        unparsing_mode: 'Readable',
      }),
  }
}

type Content = z.infer<typeof operationShape>['contents'][number]

const listCalls = ({ kind, source, destination, parameters }: Content): readonly TransferCall[] => {
  if (kind !== 'transaction' || source === undefined || destination === undefined) return []
  if (parameters?.entrypoint !== 'transfer') return []
  return [{ source, destination, entries: [...decodeTransferParameter(parameters.value)] }]
}
