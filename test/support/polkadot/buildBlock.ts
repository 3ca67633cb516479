import type { Blockchain } from '@acala-network/chopsticks-core'
import type { Vec } from '@polkadot/types'
import type { EventRecord, Header } from '@polkadot/types/interfaces'
import { u8aConcat } from '@polkadot/util'
import { blake2AsHex } from '@polkadot/util-crypto'
import { z } from 'zod'
import { type HexString, hex, loadChopsticks } from './genesis.js'

interface BuiltBlock {
  /** False: chopsticks built the block, and left out the extrinsics that the runtime did not apply. */
  readonly isComplete: boolean
}

/**
 * Builds a block of all pending extrinsics and makes it the head, as `newBlock` of chopsticks does, but in one call of the
 * executor instead of one per extrinsic: each call compiles the runtime, which takes longer than executing a block.
 */
export const buildBlock = async (chain: Blockchain): Promise<BuiltBlock> => {
  const { Block, compactHex, inherentProviders, newHeader, runTask, taskHandler } = await loadChopsticks()
  const parent = chain.head
  const transactions = chain.txPool.pendingExtrinsics
  chain.txPool.clear()

  const header = await newHeader(parent)
  const number = header.number.toNumber()
  const { storage } = parent
  const draft = new Block(chain, number, parent.hash, parent, { header, extrinsics: [], storage })
  const params = { transactions, downwardMessages: [], upwardMessages: {}, horizontalMessages: {} }
  const inherents: string[] = []
  for (const provider of inherentProviders) inherents.push(...(await provider.createInherents(draft, params)))
  const extrinsics = z.array(hex).parse([...inherents, ...transactions])

  const { mockSignatureHost, allowUnresolvedImports, runtimeLogLevel } = chain
  const response = await runTask(
    {
      wasm: await parent.wasm,
      calls: [
        ['Core_initialize_block', [header.toHex()]],
        ...extrinsics.map((extrinsic): [string, HexString[]] => [
          'BlockBuilder_apply_extrinsic',
          [extrinsic],
        ]),
        ['BlockBuilder_finalize_block', []],
      ],
      mockSignatureHost,
      allowUnresolvedImports,
      runtimeLogLevel,
    },
    taskHandler(draft),
  )
  if ('Error' in response) throw new Error(response.Error)

  const registry = await parent.registry
  const final = registry.createType<Header>('Header', {
    ...header.toJSON(),
    extrinsicsRoot: blake2AsHex(u8aConcat(...extrinsics), 256),
  })
  const storageDiff = Object.fromEntries(response.Call.storageDiff)
  const block = new Block(chain, number, final.hash.toHex(), parent, {
    header: final,
    extrinsics,
    storage,
    storageDiff,
  })

  // The executor returns the result of the last call only; each extrinsic that was applied leaves one of these events.
  const { query } = await block.meta
  const events = query.system?.events
  if (events === undefined) throw new Error('The runtime has no events')
  const records = registry.createType<Vec<EventRecord>>(
    'Vec<EventRecord>',
    await block.get(compactHex(events())),
  )
  const applied = records.filter(
    ({ event: { section, method } }) =>
      section === 'system' && (method === 'ExtrinsicSuccess' || method === 'ExtrinsicFailed'),
  )
  if (applied.length === extrinsics.length) {
    await chain.onNewBlock(block)
    return { isComplete: true }
  }
  await chain.newBlock({ transactions })
  return { isComplete: false }
}
