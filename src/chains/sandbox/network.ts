import { withSignal } from '../../concurrency/deadline.js'
import type { SandboxScenarios } from '../../ports/sandbox.js'
import type { BlockReference } from '../../ports/settlementJournal.js'
import { foldAddress } from '../../protocol/assetId.js'
import type { BlockStatus, Network } from '../../schemes/network.js'
import type { OfflineNetwork } from '../../schemes/offlineScheme.js'
import { findOrphanHeight, heightAt, readBlock } from './course.js'

/** A network without a chain: blocks are orphaned as scenarios say. */
export const createSandboxNetwork = (
  { id, signers, forms, listTokens, vouchers, routers }: OfflineNetwork,
  scenarios: SandboxScenarios | undefined,
): Network => {
  const getBlockStatus = async (block: BlockReference): Promise<BlockStatus> => {
    if (forms.blocks === null) return 'final'
    const read = readBlock(block, id, forms.blocks)
    if (read === null) return 'unknown'
    if (read.orphanedBy === null) return 'final'
    if (scenarios === undefined) return 'unknown'
    const scenario = await scenarios.find(read.orphanedBy)
    // Once it expired, everything in its script has happened.
    if (scenario === null) return 'orphaned'
    const { reorg } = scenario.script
    if (reorg === null) return 'final'
    const orphanHeight = findOrphanHeight(read.height, reorg.afterBlocks)
    return heightAt(scenario.clockMs) < orphanHeight ? 'canonical' : 'orphaned'
  }

  const isAddress = (text: string): boolean => forms.readAddress(text) !== null

  return {
    id,
    // Nothing moves, whatever the network.
    isTestnet: true,
    signers,
    secondsToSettle: 1,
    settlementsPerSecond: () => null,
    isAddress,
    normalizeAddress: (text) => {
      const address = forms.readAddress(text)
      return address === null ? null : foldAddress(address)
    },
    assetForm: 'an address',
    isAsset: isAddress,
    listTokens,
    listMinimums: () => ({}),
    balances: null,
    fees: null,
    isTooLarge: () => false,
    vouchers,
    routers,
    getBlockStatus: (block, signal) => withSignal(getBlockStatus(block), signal),
  }
}
