import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { SandboxInbox, SandboxInboxes, SandboxScenarioStore } from '../../ports/sandbox.js'
import type { WebhookTransport } from '../../ports/webhookOutbox.js'
import type { CreatedInbox, SandboxAddress } from '../../protocol/sandbox.js'
import type { SandboxUseCases } from '../useCases.js'
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

const inboxLifetimeMs = 86_400_000

interface InboxUseCases extends Pick<SandboxUseCases, 'createInbox' | 'readInbox'> {
  createFor(failures: number): Promise<CreatedInbox>
}

const createInboxUseCases = (inboxes: SandboxInboxes, clock: Clock): InboxUseCases => {
  const createFor = async (failures: number) =>
    view(await inboxes.create({ failures, expiresAt: new Date(clock.now().getTime() + inboxLifetimeMs) }))
  return {
    createFor,
    createInbox: (request) => createFor(request?.failures ?? 0),
    readInbox: async (id) => {
      const inbox = await inboxes.find(id)
      if (inbox === null) throw new AppError('NOT_FOUND', 'There is no such inbox, or it expired')
      const messages = await inboxes.listMessages(id)
      return {
        ...view(inbox),
        messages: messages.map(({ receivedAt, ...rest }) => ({
          ...rest,
          receivedAt: receivedAt.toISOString(),
        })),
      }
    },
  }
}

const view = ({ id, failuresLeft, expiresAt }: SandboxInbox): CreatedInbox => ({
  id,
  url: formatInboxUrl(id),
  failuresLeft,
  expiresAt: expiresAt.toISOString(),
})

// RFC 2606 reserves `.test`: it is never a host of the internet.
const inboxHost = 'inbox.sandbox.test'

const inboxUrl = /^https:\/\/inbox\.sandbox\.test\/([0-9a-f-]{36})$/

const formatInboxUrl = (id: string): string => `https://${inboxHost}/${id}`

/** Webhooks to inboxes stay in the service; all others leave as ever. */
export const createInboxTransport = (
  inboxes: Pick<SandboxInboxes, 'receive'>,
  others: WebhookTransport,
): WebhookTransport => ({
  findUrlProblem: (url) => (inboxUrl.test(url) ? null : others.findUrlProblem(url)),
  post: async (message, stopped) => {
    const id = inboxUrl.exec(message.url)?.[1]
    if (id === undefined) return await others.post(message, stopped)
    const status = await inboxes.receive(id, message)
    return status === null
      ? { status: null, error: 'The inbox of the sandbox expired' }
      : { status, error: null }
  },
})
