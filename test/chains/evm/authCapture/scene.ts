import type { Address } from 'viem'
import { expect } from 'vitest'
import {
  type Balances,
  type CaptureBody,
  type Hold,
  type HoldPlan,
  planHold,
  published,
  readHold,
  signCapture,
} from '../../../support/evm/holds.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Scene, type Service } from '../scene.js'

/** What the balances of a hold of the usual amount are before the first capture. */
export const untouched: Balances = { capturable: 10_000n, refundable: 0n }

export const prefixed = (reason: string) => `invalid_auth_capture_evm_${reason}`

/** Holds that a service operates. */
export interface Holds {
  readonly service: Service
  readonly operator: Address
  readonly chainId: number
  /** Signed, and not collected. */
  plan(changes?: HoldPlan): Promise<Hold>
  /** Collected by the service. */
  open(changes?: HoldPlan): Promise<Hold>
  capture(hold: Hold, amount: bigint, balances?: Balances): Promise<CaptureBody>
  read(hold: Hold): ReturnType<typeof readHold>
}

export const createHolds = ({ chain }: Pick<Scene, 'chain'>, service: Service): Holds => {
  const [signer] = service.signers
  if (signer === undefined) throw new Error('The service has no account')
  const { chainId } = chain
  const plan = (changes: HoldPlan = {}) => planHold(chain, signer.address, changes)
  return {
    service,
    operator: signer.address,
    chainId,
    plan,
    open: async (changes) => {
      const hold = await plan(changes)
      expect(await service.settle(hold.body)).toMatchObject({ success: true })
      return hold
    },
    capture: (hold, amount, balances = untouched) => signCapture(hold, balances, { chainId, amount }),
    read: (hold) => readHold(chain, hold),
  }
}

// Code that reverts.
const unansweringCode = '0x60006000fd'

/** An escrow that is there, and does not answer. */
export const silence = async ({ chain }: Pick<Scene, 'chain'>, escrow: Address): Promise<void> =>
  await chain.control.setCode(escrow, unansweringCode)

/** Both escrows are there and answer nothing: each rule up to their call is judged without it. */
const openSilentEscrows = async () => {
  const scene = await openScene()
  for (const { escrow } of Object.values(published)) await silence(scene, escrow)
  const service = await scene.open({ environment: { DEPLOY_ERC4337_WITH_EIP6492: 'true' } })
  return { ...scene, holds: createHolds(scene, service) }
}

/** For suites of the rules that come before the call of the escrow. */
export const useSilentEscrows = () => {
  const scene = useScene(openSilentEscrows, { isResetAfterEach: false })
  return {
    scene,
    plan: (changes: HoldPlan = {}) => scene.holds.plan(changes),
    chainOf: () => ({ chainId: scene.chain.chainId }),
  }
}
