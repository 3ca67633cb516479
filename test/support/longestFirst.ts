import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Test files that take longest, longest first, and those that mostly wait. They start first, so that no run
 * ends with one of them alone, even without recorded durations.
 */
export const longTests: readonly string[] = [
  'test/chains/ton/crash.test.ts',
  'test/chaos/chaos.test.ts',
  'test/chains/tron/crash.test.ts',
  'test/stores/postgres/embedded/startEmbeddedPostgres.test.ts',
  'test/chains/evm/crash.test.ts',
  'test/chains/solana/crash.test.ts',
  'test/e2e/databaseFaults.test.ts',
  'test/chains/evm/availability.test.ts',
  'test/chains/evm/attacks.test.ts',
  'test/chains/ton/attacks.test.ts',
  'test/admin/admin.test.ts',
  'test/support.test/contracts.test.ts',
  'test/http/fuzz.test.ts',
]

/** Longest files first, then by project as Vitest does, fast ones last. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const place = longTests.findIndex((path) => moduleId.endsWith(`/${path}`))
      const inProject = place === -1 ? longTests.length : place
      // Together, because they share a process; many short files also end a run evenly.
      return project.name === 'fast' ? longTests.length + 1 + inProject : inProject
    }
    const ordered = await super.sort(specifications)
    return ordered.sort((left, right) => rank(left) - rank(right))
  }
}
