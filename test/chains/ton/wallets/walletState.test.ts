import { beginCell } from '@ton/core'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../../../src/chains/ton/rpc/rpc.js'
import { findWallet } from '../../../../src/chains/ton/wallets/walletState.js'
import { createWallet } from '../../../support/ton/wallets.js'

const wallet = createWallet('v5r1', -3)
const { address, init } = wallet
const message = { wallet: address, init: null, body: beginCell().endCell() }
const blank: Account = {
  state: 'uninitialized',
  balance: 0n,
  code: null,
  data: null,
  timestamp: 0,
  newest: null,
}

describe('the wallet of a payer', () => {
  it.each(['v3r1', 'v3r2', 'v4r2', 'v5r1'] as const)('is recognized by the code of %s', (kind) => {
    const { init: deployed, keys } = createWallet(kind, -3)
    const account: Account = { ...blank, state: 'active', code: deployed.code, data: deployed.data }
    expect(findWallet(account, message)).toMatchObject({
      wallet: { publicKey: keys.publicKey, seqno: 0, isSignatureAllowed: true, isDeployed: true },
    })
  })

  it('is refused when it is frozen', () => {
    expect(findWallet({ ...blank, state: 'frozen' }, { ...message, init })).toEqual({
      refusedAs: 'account_frozen',
    })
  })

  it('is read from the state init of its message when that matches its address', () => {
    expect(findWallet(blank, { ...message, init })).toMatchObject({
      wallet: { layout: 'v5', isDeployed: false, publicKey: wallet.keys.publicKey },
    })
    const other = createWallet('v5r1', -3).init
    expect(findWallet(blank, { ...message, init: other })).toEqual({ refusedAs: 'wallet_not_deployed' })
  })

  it('is refused when a relay would have to deploy a version before v5', () => {
    const older = createWallet('v4r2', -3)
    const deploying = { ...message, wallet: older.address, init: older.init }
    expect(findWallet(blank, deploying)).toEqual({ refusedAs: 'wallet_not_deployed' })
  })

  it('reports that signatures are disabled', () => {
    const data = beginCell().storeBit(false).storeSlice(init.data.beginParse().skip(1)).endCell()
    const account: Account = { ...blank, state: 'active', code: init.code, data }
    expect(findWallet(account, message)).toMatchObject({ wallet: { isSignatureAllowed: false } })
  })

  it('is refused when its data is malformed', () => {
    const account: Account = { ...blank, state: 'active', code: init.code, data: beginCell().endCell() }
    expect(findWallet(account, message)).toEqual({ refusedAs: 'invalid_exact_tvm_payload_invalid_code_hash' })
  })
})
