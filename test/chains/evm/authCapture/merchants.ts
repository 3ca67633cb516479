import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { AtDeadline } from '../../../../src/protocol/heldPayments.js'
import { createAccountStore } from '../../../../src/stores/postgres/accounts/accountStore.js'
import type { MoveRequest } from '../../../../src/usecases/captures/useCases.js'
import type { Hold, HoldPlan } from '../../../support/evm/holds.js'
import type { EoaWallet } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import type { Scene, Service, ServiceOptions } from '../scene.js'
import { createHolds } from './scene.js'

/** Holds live for an hour: after half of it they are acted on. */
export const dueMs = 1_860_000

// Each passes the pause after an attempt, an eighth of what is left, and all of them leave time before the deadline.
const [mostSteps, partOfTimeLeft] = [10, 1 / 7]

interface Acting {
  readonly clock: ReturnType<typeof shiftedClock>
  act(): Promise<void>
  read(hold: Hold): Promise<{ readonly status: string; readonly captureDeadline: string }>
}

/** Rounds of the job until the hold has the status. A machine that is busy meanwhile lets no deadline pass. */
export const actUntil = (
  merchant: Acting & { readonly service: Pick<Service, 'reconcile'> },
  hold: Hold,
  status: string,
) => {
  let steps = 0
  return pollUntil(
    async () => {
      await merchant.act()
      await merchant.service.reconcile()
      const seen = await merchant.read(hold)
      if (seen.status === status) return true
      steps += 1
      const leftMs = Date.parse(seen.captureDeadline) - merchant.clock.now().getTime()
      if (steps <= mostSteps) merchant.clock.shift(Math.min(60_000, leftMs * partOfTimeLeft))
      return false
    },
    `the hold to be ${status}`,
    () => merchant.read(hold),
  )
}

/** Accounts whose holds a key of the service moves. */
export const createMerchants = (
  sceneOf: () => Pick<Scene, 'chain' | 'open' | 'database'>,
  agent: Pick<EoaWallet, 'address' | 'privateKey'>,
) => {
  /** An account, its holds and what it asks for. */
  const asMerchant = (service: Service, account: string = randomUUID()) => {
    const scene = sceneOf()
    const holds = createHolds(scene, service)
    const { captures } = service.core.useCases
    const plan = ({ extra = {}, ...changes }: HoldPlan = {}) =>
      holds.plan({ ...changes, extra: { receiverAuthorizer: agent.address, ...extra } })
    const naming = ({ hash }: Hold) => ({
      accountId: account,
      network: scene.chain.network,
      paymentInfoHash: hash.toLowerCase(),
    })
    const move = (hold: Hold, asked: MoveRequest['asked'], idempotencyKey: string | null = randomUUID()) =>
      captures.moveHold({ ...naming(hold), quota: null, idempotencyKey, asked })
    const run = async (job: string) => {
      for (const each of service.core.jobs) {
        if (each.name === job) await each.run(new AbortController().signal)
      }
    }
    const readHoldEvents = async () => {
      const page = await service.core.useCases.webhooks.readEvents(
        { id: account, customer: account },
        { cursor: '0', limit: 100, waitSeconds: 0 },
        { holders: [], abandoned: new AbortController().signal },
      )
      return page.events.filter(({ type }) => type.startsWith('hold.'))
    }
    return {
      service,
      holds,
      account,
      plan,
      move,
      open: async (changes?: HoldPlan) => {
        const hold = await plan(changes)
        expect(await service.settle(hold.body, account)).toMatchObject({ success: true })
        return hold
      },
      capture: (hold: Hold, amount: bigint, idempotencyKey?: string, voidsRemainder = false) =>
        move(hold, { type: 'capture', amount, fee: null, feeReceiver: null, voidsRemainder }, idempotencyKey),
      read: (hold: Hold) => captures.getHeldPayment(naming(hold)),
      list: () => captures.listHeldPayments({ accountId: account, limit: 10 }),
      /** One round of the job that looks at holds. */
      watch: () => run('watchHolds'),
      /** One round of the job that acts on deadlines, which waits a second for what it begins. */
      act: () => run('actOnDeadlines'),
      /** Only accounts that exist have something done. */
      register: () =>
        createAccountStore(scene.database.pool()).register(
          { id: account, email: `${account}@example.com`, project: 'Shop' },
          { fingerprint: randomBytes(32), sealed: randomBytes(32) },
        ),
      setAtDeadline: (hold: Hold, atDeadline: AtDeadline) =>
        captures.setAtDeadline({ ...naming(hold), atDeadline }),
      setDefault: (atDeadline: AtDeadline) => captures.setDefault(account, atDeadline),
      readHoldEvents,
      /** Types of the events of holds, in alphabetical order: those of one look have no other. */
      listEvents: async () => (await readHoldEvents()).map(({ type }) => type).sort(),
    }
  }

  const openMerchant = async ({ environment = {}, ...options }: ServiceOptions = {}, account?: string) => {
    const key = { EVM_HOLD_AUTHORIZER_KEY: agent.privateKey }
    const service = await sceneOf().open({ ...options, environment: { ...key, ...environment } })
    return asMerchant(service, account)
  }
  return {
    asMerchant,
    openMerchant,
    /** Its account exists, and its clock can be moved to a deadline. */
    openRegistered: async (options: ServiceOptions = {}) => {
      const clock = shiftedClock()
      const merchant = await openMerchant({ clock, ...options })
      await merchant.register()
      return { ...merchant, clock }
    },
  }
}
