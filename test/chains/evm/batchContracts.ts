import type { Address } from 'viem'
import { batchSettler } from '../../../src/chains/evm/contracts/batchSettler.js'
import { createTransferBatch } from '../../../src/chains/evm/exact/transferBatch.js'
import { createMulticallBatch, isBatch } from '../../../src/chains/evm/transactions/batching/batchContract.js'
import { multicall3Address } from '../../support/evm/localChain.js'

/** What a network may have, and what a payment in a batch of fifty costs then. */
interface BatchKind {
  readonly name: string
  readonly address: Address
  readonly hasBatchSettler: boolean
  readonly gasOfFifty: number
}

export const batchKinds: readonly BatchKind[] = [
  { name: 'Multicall3', address: multicall3Address, hasBatchSettler: false, gasOfFifty: 52_000 },
  { name: 'BatchSettler', address: batchSettler.address, hasBatchSettler: true, gasOfFifty: 48_000 },
]

export const multicall = createMulticallBatch({ ask: async () => true })
export const transferBatch = createTransferBatch({ ask: async () => true })

export const isSharedByAny = (bytes: string): boolean => isBatch(bytes, [transferBatch, multicall])
