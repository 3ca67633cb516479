import type { Address } from 'viem'
import {
  type PermitPaymentBody,
  type PermitPaymentOptions,
  permitPayment,
  setUsdcAllowance,
} from '../../../../support/evm/permit2.js'
import { createEoa, type EoaWallet } from '../../../../support/evm/wallets.js'
import type { Scene } from '../../scene.js'

/** A payment with its parties. */
interface PlannedPermit {
  readonly body: PermitPaymentBody
  readonly wallet: EoaWallet
  readonly payer: Address
  readonly payTo: Address
}

interface PermitPlan extends Omit<Partial<PermitPaymentOptions>, 'chain' | 'wallet'> {
  readonly wallet?: EoaWallet
  /** The payer's balance before the payment; default: the amount. */
  readonly balance?: bigint
  /** What Permit2 may take; default: everything. */
  readonly allowance?: bigint
}

/** A payment in USDC by Permit2, by a new payer by default, who is funded and has approved Permit2. */
export const planPermit = async (
  { chain }: Pick<Scene, 'chain'>,
  {
    wallet = createEoa(),
    payTo = createEoa().address,
    balance,
    allowance,
    amount = 10_000n,
    ...rest
  }: PermitPlan = {},
): Promise<PlannedPermit> => {
  await chain.mint(wallet.address, balance ?? amount)
  await setUsdcAllowance(chain, wallet.address, allowance)
  const body = await permitPayment({ chain, wallet, payTo, amount, ...rest })
  return { body, wallet, payer: wallet.address, payTo }
}
