import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../src/compose.js'
import { writeX402Message } from '../../src/extensions/siwx/messages.js'
import { openCore } from '../support/core.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa, createMoodyWallet, deployWallet } from '../support/evm/wallets.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { signInFields, signInUri, toProof } from '../support/siwx.js'

let database: TestDatabase
let chain: LocalChain
let instances: readonly Core[]
beforeAll(async () => {
  ;[database, chain] = await Promise.all([createTestDatabase(), startLocalChain()])
  instances = await Promise.all([1, 2].map(() => openCore({ chain, databaseUrl: database.url })))
})
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.close()))
  await Promise.all([database.drop(), chain.stop()])
})

const issue = () => {
  const nonce = instances[0]?.useCases.siwx.issueNonce({ uri: signInUri, chainId: chain.network })
  if (nonce === undefined) throw new Error('No instance')
  return nonce
}

describe('two instances of the service', () => {
  it('know the nonces of each other, and accept one proof once', async () => {
    const { account, address } = createEoa()
    const { nonce, issuedAt, expirationTime } = issue()
    const fields = signInFields({ address, chainId: chain.network, nonce, issuedAt, expirationTime })
    const proof = toProof(fields, await account.signMessage({ message: writeX402Message(fields) ?? '' }))
    const request = { proof, uri: signInUri, requireIssuedNonce: true }
    const [first, second] = instances
    expect(await second?.useCases.siwx.verifySignIn(request)).toMatchObject({ address })
    await expect(first?.useCases.siwx.verifySignIn(request)).rejects.toMatchObject({
      signInReason: 'siwx_nonce_used',
    })
  })

  it('ask contract wallets through the nodes of the configured network', async () => {
    const wallet = await createMoodyWallet(chain, 'acceptsAll')
    await deployWallet(chain, wallet)
    const { nonce, issuedAt, expirationTime } = issue()
    const fields = signInFields({
      address: wallet.address,
      chainId: chain.network,
      nonce,
      issuedAt,
      expirationTime,
    })
    const request = { proof: toProof(fields, '0xabcd'), uri: signInUri }
    expect(await instances[0]?.useCases.siwx.verifySignIn(request)).toMatchObject({
      signatureScheme: 'eip1271',
    })
  })
})
