import {
  describeSchemeContract,
  type PlannedPayment,
  type SchemeBody,
} from '../../../../contracts/schemeContract.js'
import type { LocalChain } from '../../../../support/evm/localChain.js'
import type { PermitPaymentBody } from '../../../../support/evm/permit2.js'
import { toParityV } from '../../../../support/evm/signatureForms.js'
import { openSchemeHarness } from '../../schemeHarness.js'
import { planPermit } from './scene.js'

const upperCase = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`

/** The same permit: other letter case of addresses, reversed keys, a leading zero, v as 0 or 1. */
const respell = ({ paymentPayload, paymentRequirements }: PermitPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { from, permitted, spender, witness, deadline, ...values } = payload.permit2Authorization
  const permit2Authorization = {
    witness: { validAfter: witness.validAfter, to: upperCase(witness.to) },
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
  const { body, payTo } = await planPermit({ chain })
  return { body, respelled: respell(body), countReceived: () => chain.balanceOf(payTo) }
}

describeSchemeContract('exact on EVM by Permit2', () => openSchemeHarness(plan))
