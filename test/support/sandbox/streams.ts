import type { Address } from 'viem'
import { readOfflineNetwork } from '../../../src/chains/evm/offline/offlineNetwork.js'
import { createOfflineUpto } from '../../../src/chains/evm/offline/upto.js'
import type { PaymentChain } from '../evm/payment.js'
import { uptoPayment } from '../evm/upto.js'
import { type UptoPaymentOptions, uptoPayment as uptoPermit2Payment } from '../evm/uptoPermit2.js'
import { createEoa, type PayerWallet } from '../evm/wallets.js'

const network = 'eip155:84532'

/** USDC of Base Sepolia, as the sandbox knows it. */
export const sandboxChain: PaymentChain = {
  network,
  token: {
    name: 'USDC',
    version: '2',
    chainId: 84_532,
    verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
}

const offline = readOfflineNetwork(network)
if (offline === null) throw new Error(`${network} is no network of the sandbox`)

/** The router of the sandbox, which is its facilitator as well. */
const sandboxRouter = ((): Address => {
  const address = createOfflineUpto(offline).extra?.facilitatorAddress
  if (typeof address !== 'string') throw new Error('The sandbox has no router')
  return `0x${address.slice(2)}`
})()

/** A payment under `upto` that the sandbox judges by its signature: by Permit2, so that a payer may have many. */
export const sandboxUpto = (plan: Partial<UptoPaymentOptions> = {}) =>
  uptoPermit2Payment({ chain: sandboxChain, facilitator: sandboxRouter, wallet: createEoa(), ...plan })

/** The same by a permit of the token. */
export const sandboxPermit = (wallet: PayerWallet = createEoa()) =>
  uptoPayment({ chain: sandboxChain, router: sandboxRouter, wallet })
