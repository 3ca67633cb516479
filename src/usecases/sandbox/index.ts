import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type {
  SandboxChannelStore,
  SandboxInbox,
  SandboxInboxes,
  SandboxScenarioStore,
  Scenario,
  ScenarioScript,
} from '../../ports/sandbox.js'
import type { WebhookTransport } from '../../ports/webhookOutbox.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { readReason } from '../../protocol/reasons.js'
import type {
  CreatedInbox,
  SandboxAddress,
  SandboxPayment,
  ScenarioRequest,
  ScenarioView,
} from '../../protocol/sandbox.js'
import type { SandboxUseCases } from '../useCases.js'

interface SandboxDependencies {
  readonly chain: SandboxNetworks & { listAddresses(now: Date): readonly SandboxAddress[] }
  readonly scenarios: SandboxScenarioStore
  readonly inboxes: SandboxInboxes
  readonly channels: Pick<SandboxChannelStore, 'purge'>
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
  channels,
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
          await channels.purge(stopped)
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

/** What the sandbox's networks contribute. */
interface SandboxNetworks {
  readonly networks: readonly string[]
  hasReorgs(network: string): boolean
  /** A random address of the network that has no key. */
  newPayer(network: string): string
  /** Address of a fixed payer, by its name in any letter case; null if there is none of that name. */
  findFixedPayer(network: string, name: string): string | null
  /** A body for /verify and /settle, with a new nonce; null if the payer is no address of the network. */
  writeRequest(network: string, payer: string, now: Date): SandboxPayment | null
}

interface ScenarioDependencies {
  readonly scenarios: SandboxScenarioStore
  readonly chain: SandboxNetworks
  readonly clock: Clock
  createInbox(failures: number): Promise<CreatedInbox>
  /** Resolves what became due: settlements, reorgs, webhooks. */
  catchUp(): Promise<void>
}

// The clock advances from retry to retry of a webhook; a delivery has seven.
const maxSteps = 12

const scenarioLifetimeMs = 3_600_000

const createScenarioUseCases = ({
  scenarios,
  chain,
  clock,
  createInbox,
  catchUp,
}: ScenarioDependencies): Pick<SandboxUseCases, 'createScenario' | 'getScenario' | 'advanceClock'> => {
  const writeRequest = (network: string, payer: string) => {
    const request = chain.writeRequest(network, payer, clock.now())
    return request === null ? {} : { request }
  }
  const view = ({ id, network, payer, clockMs, expiresAt }: Scenario): ScenarioView => ({
    id,
    network,
    payer,
    clockSeconds: clockMs / 1_000,
    expiresAt: expiresAt.toISOString(),
    ...writeRequest(network, payer),
  })

  return {
    createScenario: async (request, holders) => {
      const network = requireNetwork(chain, canonicalNetwork(request.network))
      if (request.reorg !== undefined && !chain.hasReorgs(network)) {
        throw new AppError('INVALID_REQUEST', `reorg: there are none on ${network}`)
      }
      const scenario = await scenarios.create({
        network,
        payer: chain.newPayer(network),
        script: readScript(request),
        expiresAt: new Date(clock.now().getTime() + scenarioLifetimeMs),
        holders,
      })
      if (scenario === 'share') {
        throw new AppError('RATE_LIMITED', 'Your address or account has its share of the live scenarios', {
          retryAfterSeconds: 60,
        })
      }
      if (scenario === 'full') {
        throw new AppError('SERVICE_UNAVAILABLE', 'The sandbox has as many scenarios as it keeps', {
          retryAfterSeconds: 60,
        })
      }
      const { webhook } = request
      return webhook === undefined
        ? view(scenario)
        : { ...view(scenario), inbox: await createInbox(webhook.failures) }
    },

    getScenario: async (id) => view(found(await scenarios.find(id))),

    advanceClock: async ({ scenarioId, seconds }) => {
      let remainingMs = Math.round(seconds * 1_000)
      let scenario = found(await scenarios.find(scenarioId))
      for (let step = 0; step < maxSteps && remainingMs > 0; step++) {
        const dueInMs = step === maxSteps - 1 ? null : await scenarios.findNextDueMs(scenarioId)
        const stepMs = Math.min(remainingMs, dueInMs ?? remainingMs)
        scenario = found(await scenarios.advance(scenarioId, stepMs))
        await catchUp()
        remainingMs -= stepMs
      }
      return view(scenario)
    },
  }
}

/** Throws INVALID_REQUEST for a network that is not of the sandbox. */
const requireNetwork = ({ networks }: SandboxNetworks, network: string): string => {
  if (networks.includes(network)) return network
  throw new AppError('INVALID_REQUEST', `network: must be one of ${networks.join(', ')}`)
}

const found = (scenario: Scenario | null): Scenario => {
  if (scenario !== null) return scenario
  throw new AppError('NOT_FOUND', 'There is no such scenario, or it expired')
}

const readScript = ({ verify, settle, reorg }: ScenarioRequest): ScenarioScript => ({
  verifyRefusal: readReason(verify?.refusedFor ?? null),
  settle: {
    failure: readReason(settle?.failsFor ?? null),
    pendingSeconds: settle?.pendingSeconds ?? 0,
  },
  reorg:
    reorg === undefined
      ? null
      : { afterBlocks: reorg.afterBlocks, failure: readReason(reorg.failsFor ?? null) },
})

/** The payer by its name, or by an address of the network. */
const createPaymentWriter =
  (chain: SandboxNetworks, clock: Clock): SandboxUseCases['createPayment'] =>
  (query) => {
    const network = requireNetwork(chain, canonicalNetwork(query.network))
    const payer = chain.findFixedPayer(network, query.payer) ?? query.payer
    const payment = chain.writeRequest(network, payer, clock.now())
    if (payment !== null) return payment
    throw new AppError(
      'INVALID_REQUEST',
      `payer: must be an address of ${network}, or the name of a payer that GET /sandbox/addresses lists`,
    )
  }
