import { blake2AsHex, encodeAddress } from '@polkadot/util-crypto'
import { describeSchemeContract, type SchemeHarness } from '../../contracts/schemeContract.js'
import { startAssetHub } from '../../support/polkadot/assetHub.js'
import { createKey } from '../../support/polkadot/keys.js'
import { callsOf, polkadotPayment, submit } from '../../support/polkadot/payment.js'
import { usdt } from '../../support/polkadot/westend.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { watchConnection } from '../../support/watchConnection.js'
import { openScheme, westendEnvironment } from './openScheme.js'

const openHarness = async (): Promise<SchemeHarness> => {
  const hub = await startAssetHub()
  const proxy = await startRpcProxy(hub.url)
  const { scheme, openRecorder, close } = await openScheme(westendEnvironment(proxy.url))
  const createPayer = async () => {
    const payer = createKey()
    await hub.fund(payer.address, { native: 10n ** 15n, tokens: { [usdt]: 20_000n } })
    return payer
  }

  return {
    scheme,
    otherNetwork: 'polkadot:68d56f15f85d3136970ec16946040bc1',
    // Hints.
    ignoredFields: ['blockHash', 'extrinsicIndex'],
    plan: async () => {
      const [payer, recipient] = [await createPayer(), createKey()]
      const payTo = recipient.address
      const extrinsicHash = await submit(hub, payer, callsOf(hub).transfer(payTo, 10_000n))
      const blockHash = await hub.mine()
      const payload = { blockHash, extrinsicIndex: 2 }
      const body = polkadotPayment({ hub, extrinsicHash, from: payer.address, payTo, payload })
      const respelled = polkadotPayment({
        hub,
        extrinsicHash: `0x${extrinsicHash.slice(2).toUpperCase()}`,
        from: encodeAddress(payer.publicKey, 0),
        payTo,
        payload: { ...payload, to: encodeAddress(recipient.publicKey, 2) },
      })
      return { body, respelled, countReceived: () => hub.balanceOf(payTo) }
    },
    openRecorder,
    createUnsentTransaction: async () => {
      const call = callsOf(hub).transfer(createKey().address, 1n)
      const signed = await call.signAsync(await createPayer(), { nonce: -1 })
      return { transaction: blake2AsHex(signed.toU8a(), 256), bytes: signed.toHex() }
    },
    ...watchConnection(proxy, { method: 'author_submitExtrinsic', prefix: 'author_' }),
    close: async () => {
      await close()
      await proxy.stop()
      await hub.stop()
    },
  }
}

describeSchemeContract('exact-direct on Polkadot', openHarness, { isVerifyOnly: true })
