import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { SandboxInboxes, SandboxScenarioStore } from '../../ports/sandbox.js'
import type { SandboxAddress } from '../../protocol/sandbox.js'
import type { SandboxUseCases } from '../useCases.js'
import { createInboxUseCases } from './inboxes.js'
import { createPaymentWriter, createScenarioUseCases, type SandboxNetworks } from './scenarios.js'

interface SandboxDependencies {
  readonly chain: SandboxNetworks & { listAddresses(now: Date): readonly SandboxAddress[] }
  readonly scenarios: SandboxScenarioStore
  readonly inboxes: SandboxInboxes
  readonly clock: Clock
  catchUp(): Promise<void>
}

interface Sandbox {
  readonly useCases: SandboxUseCases
  readonly jobs: Readonly<Record<'purgeSandbox', Job>>
}

export const createSandbox = ({
  chain,
  scenarios,
  inboxes,
  clock,
  catchUp,
}: SandboxDependencies): Sandbox => {
  const { createFor, ...inboxUseCases } = createInboxUseCases(inboxes, clock)
  return {
    useCases: {
      listAddresses: () => ({ addresses: [...chain.listAddresses(clock.now())] }),
      createPayment: createPaymentWriter(chain, clock),
      ...createScenarioUseCases({ scenarios, chain, clock, createInbox: createFor, catchUp }),
      ...inboxUseCases,
    },
    jobs: {
      purgeSandbox: {
        everyMs: 600_000,
        isShared: true,
        run: async (stopped) => {
          await scenarios.purge(stopped)
          await inboxes.purge(stopped)
        },
      },
    },
  }
}
