import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { SandboxScenarioStore, Scenario, ScenarioScript } from '../../ports/sandbox.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { readReason } from '../../protocol/reasons.js'
import type { CreatedInbox, SandboxPayment, ScenarioRequest, ScenarioView } from '../../protocol/sandbox.js'
import type { SandboxUseCases } from '../useCases.js'

/** What the sandbox's networks contribute. */
export interface SandboxNetworks {
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

// From retry to retry of its webhooks: a delivery has seven.
const maxSteps = 12

const scenarioLifetimeMs = 3_600_000

export const createScenarioUseCases = ({
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
export const createPaymentWriter =
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
