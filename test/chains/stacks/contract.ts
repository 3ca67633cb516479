import { describeSchemeContract, type SchemeHarness } from '../../contracts/schemeContract.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { createStacksKey } from '../../support/stacks/keys.js'
import { stacksPayment, transfer } from '../../support/stacks/payment.js'
import { deployToken, mint, startStacksChain } from '../../support/stacks/stacksChain.js'
import { watchConnection } from '../../support/watchConnection.js'
import { openScheme, testnetEnvironment } from './openScheme.js'

const openHarness = async (): Promise<SchemeHarness> => {
  const chain = await startStacksChain()
  const token = await deployToken(chain)
  const proxy = await startRpcProxy(chain.url)
  const { scheme, openRecorder, close } = await openScheme(testnetEnvironment(proxy.url, token))

  const payTo = async (recipient: string) => {
    const payer = chain.createFundedKey()
    await mint(chain, token, payer.address, 10_000n)
    const transaction = await transfer(chain, payer, { token, to: recipient, amount: 10_000n })
    return { payer, transaction }
  }

  return {
    scheme,
    otherNetwork: 'stacks:1',
    plan: async () => {
      const recipient = createStacksKey().address
      const { payer, transaction } = await payTo(recipient)
      chain.ledger.mine()
      chain.ledger.mine()
      const options = { transaction, from: payer.address, payTo: recipient, token }
      return {
        body: stacksPayment(options),
        respelled: stacksPayment({
          ...options,
          payload: { txId: `0x${transaction.slice(2).toUpperCase()}` },
        }),
        countReceived: () => chain.balanceOf(token, recipient),
      }
    },
    openRecorder,
    createUnsentTransaction: async () => {
      const { transaction } = await payTo(createStacksKey().address)
      chain.ledger.drop(transaction, 'dropped_stale_garbage_collect')
      return { transaction, bytes: transaction }
    },
    ...watchConnection(proxy, { method: '/v2/transactions' }),
    close: async () => {
      await close()
      await proxy.stop()
      await chain.stop()
    },
  }
}

describeSchemeContract('exact-direct on Stacks', openHarness, { isVerifyOnly: true })
