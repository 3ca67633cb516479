import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Hex, hexToNumber, isHex } from 'viem'
import { z } from 'zod'
import { callRpc } from '../support/evm/jsonRpc.js'
import type { TestRedis } from '../support/redis.js'
import type { RpcProxy } from '../support/rpcProxy.js'
import { readMinedTransactions } from './chainLedger.js'
import type { FaultyNodes, PlannedFault } from './faults.js'
import type { Instance } from './instance.js'
import { makeStale } from './staleNode.js'
import type { World } from './world.js'

/** Reverts the fault after its duration. Returns the number of transactions dropped or reorged. */
export const injectFault = async (world: World, fault: PlannedFault): Promise<number> => {
  if (fault.kind === 'chain.transactions_dropped') return await dropTransactions(world, fault.lastsMs)
  if (fault.kind === 'chain.reorganised') return await reorganise(world, fault.depth)
  await injectTimedFault(world, fault)
  return 0
}

type TimedFault = Exclude<PlannedFault, { readonly kind: 'chain.transactions_dropped' | 'chain.reorganised' }>

const injectTimedFault = async (world: World, fault: TimedFault): Promise<void> => {
  const { chain, miner, database, redis, instances } = world
  const { lastsMs } = fault
  switch (fault.kind) {
    case 'instance.killed': {
      const instance = instances[fault.instance]
      await instance.kill()
      await sleep(lastsMs)
      await instance.ensureRunning()
      return
    }
    case 'instance.clock_shifted': {
      const instance = instances[fault.instance]
      instance.shiftClock(fault.shiftMs)
      await sleep(lastsMs)
      instance.shiftClock(0)
      return
    }
    case 'instance.cut_from_database':
      await cutFromDatabase(instances[fault.instance], fault.isReset, lastsMs)
      return
    case 'postgres.restarted':
      await database.restart(fault.end, lastsMs)
      return
    case 'redis.flushed':
      if (redis !== null) await flush(redis)
      return
    case 'redis.restarted':
      await redis?.restart()
      return
    case 'rpc.hung':
      return await withNodeFault(pickNodes(instances[fault.instance], fault.nodes), lastsMs, (node) =>
        node.setFault('*', { kind: 'hang' }),
      )
    case 'rpc.refused':
      return await withNodeFault(pickNodes(instances[fault.instance], fault.nodes), lastsMs, (node) =>
        node.setFault('*', { kind: 'refuse' }),
      )
    case 'rpc.stale': {
      const { number } = await chain.control.getHead()
      return await withNodeFault(pickNodes(instances[fault.instance], fault.nodes), lastsMs, (node) =>
        makeStale(node, number),
      )
    }
    case 'rpc.send_answer_lost':
      return await withNodeFault(instances[fault.instance].nodes, lastsMs, (node) =>
        node.setFault('eth_sendRawTransaction', { kind: 'loseAnswer', connection: fault.connection }),
      )
    case 'rpc.send_refused':
      return await withNodeFault(instances[fault.instance].nodes, lastsMs, (node) =>
        node.setFault('eth_sendRawTransaction', { kind: 'error', code: -32_000, message: fault.words }),
      )
    case 'chain.stands_still':
      miner.pause()
      await sleep(lastsMs)
      miner.resume()
      return
  }
}

const pickNodes = ({ nodes }: Instance, struck: FaultyNodes): readonly RpcProxy[] =>
  struck === 'both' ? nodes : [nodes[0]]

const withNodeFault = async (
  nodes: readonly RpcProxy[],
  lastsMs: number,
  begin: (node: RpcProxy) => void,
): Promise<void> => {
  for (const node of nodes) begin(node)
  await sleep(lastsMs)
  // Also ends overlapping faults on the same nodes: faults may be shorter than planned.
  for (const node of nodes) node.clearFaults()
}

const resetPauseMs = 30

const cutFromDatabase = async ({ database }: Instance, isReset: boolean, lastsMs: number): Promise<void> => {
  if (!isReset) {
    database.hang()
    await sleep(lastsMs)
    await database.pass()
    return
  }
  const end = performance.now() + lastsMs
  while (performance.now() < end) {
    await database.reset()
    await sleep(resetPauseMs)
  }
}

const flush = async ({ url }: TestRedis): Promise<void> => {
  const redis = new Redis(url)
  try {
    await redis.flushall()
  } finally {
    redis.disconnect()
  }
}

const dropPauseMs = 60

const dropTransactions = async ({ chain, miner }: World, lastsMs: number): Promise<number> => {
  const end = performance.now() + lastsMs
  let dropped = 0
  // No blocks meanwhile, so that there are pending transactions to drop.
  miner.pause()
  while (performance.now() < end) {
    await sleep(dropPauseMs)
    const { pending, queued } = poolStatus.parse(await callRpc(chain.url, 'txpool_status'))
    dropped += hexToNumber(pending) + hexToNumber(queued)
    await chain.control.dropAllTransactions()
  }
  miner.resume()
  return dropped
}

const hex = z.custom<Hex>((value) => isHex(value))
const poolStatus = z.object({ pending: hex, queued: hex })

const reorganise = (world: World, depth: number): Promise<number> =>
  world.miner.between(async () => {
    const { number } = await world.chain.control.getHead()
    const replaced = await readMinedTransactions(world, number - BigInt(depth) + 1n)
    await world.chain.control.reorg(depth)
    return replaced.length
  })
