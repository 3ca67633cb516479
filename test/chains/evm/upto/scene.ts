import type { Address } from 'viem'
import { locateUptoRouter } from '../../../../src/chains/evm/contracts/routers.js'
import { type UptoPaymentBody, type UptoPaymentOptions, uptoPayment } from '../../../support/evm/upto.js'
import { deployUptoRouter } from '../../../support/evm/uptoRouter.js'
import { createEoa, type PayerWallet } from '../../../support/evm/wallets.js'
import type { Scene, Service, ServiceOptions } from '../scene.js'

/** A payment with its parties. */
export interface PlannedUpto {
  readonly body: UptoPaymentBody
  readonly payer: Address
  readonly payTo: Address
}

interface UptoPlan extends Omit<Partial<UptoPaymentOptions>, 'chain'> {
  readonly wallet?: PayerWallet
  /** The payer's balance before the payment; default: the maximum. */
  readonly balance?: bigint
}

export interface UptoService extends Service {
  readonly router: Address
  /** A payment in USDC, by a new payer by default, who is funded. */
  plan(plan?: UptoPlan): Promise<PlannedUpto>
}

/** A service whose router is deployed. */
export const openUpto = async (scene: Scene, options: ServiceOptions = {}): Promise<UptoService> => {
  const { chain } = scene
  const service = await scene.open({ prepare: (signers) => deployUptoRouter(chain, signers), ...options })
  const router = locateUptoRouter(service.signers.map(({ address }) => address)).address
  const plan = async ({
    wallet = createEoa(),
    payTo = createEoa().address,
    balance,
    maxAmount = 10_000n,
    ...rest
  }: UptoPlan = {}): Promise<PlannedUpto> => {
    await chain.mint(wallet.address, balance ?? maxAmount)
    const body = await uptoPayment({ chain, router, wallet, payTo, maxAmount, ...rest })
    return { body, payer: wallet.address, payTo }
  }
  return { ...service, router, plan }
}
