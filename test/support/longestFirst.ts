import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Test files that take longest, longest first, and those that mostly wait. They start first, so that no run
 * ends with one of them alone, even without recorded durations.
 */
export const longTests: readonly string[] = [
  'test/e2e/families/families.test.ts',
  'test/chaos/chaos.test.ts',
  'test/e2e/databaseFaults.test.ts',
  'test/chains/ton/attacks.test.ts',
  'test/chains/evm/attacks.test.ts',
  'test/chains/evm/permit2/upto/contract.test.ts',
  'test/chains/evm/availability.test.ts',
  'test/stores/postgres/embedded/startEmbeddedPostgres.test.ts',
  'test/http/rateLimitsOnRedis.test.ts',
  'test/e2e/clients/clients.test.ts',
  'test/chains/evm/upto/streams.test.ts',
  'test/chains/tron/open.test.ts',
  'test/chains/ton/exact/contract.test.ts',
  'test/demo/demo.test.ts',
  'test/chains/ton/transactions/relayQueue.test.ts',
  'test/chains/tron/energy/energyDelegator.test.ts',
  'test/chains/evm/exact/settle.test.ts',
  'test/start/npmStart.test.ts',
  'test/chains/evm/transactions/batching/batch.test.ts',
  'test/chains/evm/permit2/exact/attacks.test.ts',
  'test/stores/redis/rateLimiter.test.ts',
  'test/chains/evm/exact/reorgs.test.ts',
  'test/chains/polkadot/assetHub.test.ts',
  'test/chains/evm/sendAgain.test.ts',
  'test/chains/ton/crash.test.ts',
  'test/chains/tron/crash.test.ts',
  'test/chains/solana/crash.test.ts',
  'test/chains/evm/crash.test.ts',
  'test/stores/postgres/database/growth.test.ts',
  'test/chains/tezos/open.test.ts',
  'test/http/bodyLimits.test.ts',
  'test/http/sockets.test.ts',
  'test/chains/near/open.test.ts',
  'test/chains/cosmos/open.test.ts',
  'test/chains/aptos/open.test.ts',
  'test/http/fuzz.test.ts',
]

/** By project, because its files share processes, and in it the longest files first. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const place = longTests.findIndex((path) => moduleId.endsWith(`/${path}`))
      const inProject = place === -1 ? longTests.length : place
      return projects.indexOf(project.name) * (longTests.length + 1) + inProject
    }
    const ordered = await super.sort(specifications)
    return ordered.sort((left, right) => rank(left) - rank(right))
  }
}

// Many short files at the end let all workers end together.
const projects = ['integration', 'postgres-15', 'fast']
