import type { Address } from 'viem'
import {
  describeSchemeContract,
  type PlannedPayment,
  type SchemeBody,
  type SchemeHarness,
} from '../../../../contracts/schemeContract.js'
import type { LocalChain } from '../../../../support/evm/localChain.js'
import { toParityV } from '../../../../support/evm/signatureForms.js'
import type { UptoPaymentBody } from '../../../../support/evm/uptoPermit2.js'
import { deployUptoRouter } from '../../../../support/evm/uptoRouter.js'
import { openSchemeHarness } from '../../schemeHarness.js'
import { planCharge } from './uptoScene.js'

const upperCase = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`

/** The same permit: other letter case of addresses, reversed keys, a leading zero, v as 0 or 1. */
const respell = ({ paymentPayload, paymentRequirements }: UptoPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { from, permitted, spender, witness, deadline, ...values } = payload.permit2Authorization
  const permit2Authorization = {
    witness: {
      validAfter: witness.validAfter,
      facilitator: upperCase(witness.facilitator),
      to: upperCase(witness.to),
    },
    deadline: `0${deadline}`,
    ...values,
    spender: spender.toLowerCase(),
    permitted: { amount: permitted.amount, token: upperCase(permitted.token) },
    from: from.toLowerCase(),
  }
  return {
    paymentPayload: {
      ...rest,
      payload: { permit2Authorization, signature: toParityV(payload.signature) },
      accepted,
    },
    paymentRequirements: { ...paymentRequirements, asset: upperCase(paymentRequirements.asset) },
  }
}

const plan = async (chain: LocalChain): Promise<PlannedPayment> => {
  const facilitator = facilitators.get(chain)
  if (facilitator === undefined) throw new Error('The chain has no facilitator')
  const { body, payTo } = await planCharge(chain, { facilitator })
  return { body, respelled: respell(body), countReceived: () => chain.balanceOf(payTo) }
}

const facilitators = new WeakMap<LocalChain, Address>()

const openHarness = (hasRouter: boolean): Promise<SchemeHarness> =>
  openSchemeHarness(plan, {
    scheme: 'upto',
    prepare: async (chain) => {
      const facilitator = hasRouter ? await deployUptoRouter(chain) : chain.facilitators[0]?.address
      if (facilitator !== undefined) facilitators.set(chain, facilitator)
    },
  })

const settlesPart = { settlesPart: true }

describeSchemeContract(
  'upto on EVM by Permit2, with an account as facilitator',
  () => openHarness(false),
  settlesPart,
)
describeSchemeContract(
  'upto on EVM by Permit2, with the router as facilitator',
  () => openHarness(true),
  settlesPart,
)
