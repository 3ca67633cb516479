import { randomUUID } from 'node:crypto'
import type { Scheme } from '../../src/schemes/scheme.js'
import {
  describeSchemeContract,
  type PlannedPayment,
  type SchemeHarness,
} from '../contracts/schemeContract.js'
import { createMemoryLanes } from '../support/memoryLanes.js'
import { createToyChain, type ToyChain, writeOrder } from '../support/toyChain.js'
import { createToyDirect, createToyUpto } from '../support/toySchemes.js'

const hex = () => randomUUID().replaceAll('-', '')

const bodyOf = (requirements: object, payload: object) => ({
  paymentPayload: { accepted: requirements, payload },
  paymentRequirements: requirements,
})

const termsOf = (scheme: string, payTo: string) => ({
  scheme,
  network: 'toy:1',
  asset: 'gold',
  payTo,
  maxTimeoutSeconds: 60,
})

const planUpto = (chain: ToyChain): PlannedPayment => {
  const [from, nonce, payTo] = [`payer-${hex()}`, hex(), hex()]
  chain.allow(`toy:1/${from}/${nonce}`, 10_000n)
  const requirements = { ...termsOf('upto', payTo), maxAmount: '10000' }
  return {
    body: bodyOf(requirements, { from, nonce }),
    respelled: bodyOf(requirements, { nonce: nonce.toUpperCase(), from }),
    countReceived: async () => chain.countReceived(payTo),
  }
}

const planDirect = (chain: ToyChain): PlannedPayment => {
  const [from, to] = [`payer-${hex()}`, hex()]
  const { transaction: txHash } = chain.transfer(from, to, 10_000n)
  const requirements = { ...termsOf('exact-direct', to), amount: '10000' }
  return {
    body: bodyOf(requirements, { txHash, from, to, amount: '10000' }),
    respelled: bodyOf(requirements, { to, from, txHash: txHash.toUpperCase(), amount: '10000' }),
    countReceived: async () => chain.countReceived(to),
  }
}

const openHarness = (
  create: (chain: ToyChain) => Scheme,
  plan: (chain: ToyChain) => PlannedPayment,
): SchemeHarness => {
  const chain = createToyChain()
  return {
    scheme: create(chain),
    otherNetwork: 'toy:2',
    plan: async () => plan(chain),
    openRecorder: createMemoryLanes().openRecorder,
    createUnsentTransaction: async () =>
      writeOrder({ authorization: hex(), from: 'nobody', to: hex(), amount: '1' }),
    listSent: chain.listSent,
    dropSends: () => chain.setFault('swallowSends'),
    dropSendResponses: () => chain.setFault('loseSendAnswers'),
    dropAllResponses: () => chain.setFault('silence'),
    restore: async () => chain.setFault(null),
    close: async () => undefined,
  }
}

describeSchemeContract('upto on the toy chain', async () => openHarness(createToyUpto, planUpto), {
  settlesPart: true,
})

describeSchemeContract(
  'exact-direct on the toy chain',
  async () => openHarness(createToyDirect, planDirect),
  {
    isVerifyOnly: true,
  },
)
