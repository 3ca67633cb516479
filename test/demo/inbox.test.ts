import type { AddressInfo } from 'node:net'
import express from 'express'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { createInbox } from './inbox.js'

it('the inbox of the demo shows events with a right signature, and refuses all others', async () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const seen: string[] = []
  const inbox = createInbox(({ type }) => seen.push(type))
  const server = express().use(inbox.router).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const isBound = (value: typeof address): value is AddressInfo => typeof value === 'object' && value !== null
  const url = `http://127.0.0.1:${isBound(address) ? address.port : 0}/webhooks`
  const send = async (key: string) => {
    const text = JSON.stringify({ type: 'settlement.confirmed', data: { id: 's1' } })
    const at = new Date()
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'm1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(key).sign('m1', at, text),
    }
    return (await fetch(url, { method: 'POST', headers, body: text })).status
  }
  try {
    expect(await send(secret)).toBe(401)
    inbox.setSecret(secret)
    expect(await send(`whsec_${Buffer.alloc(24, 8).toString('base64')}`)).toBe(401)
    expect(await send(secret)).toBe(204)
    expect(seen).toEqual(['settlement.confirmed'])
    expect(await (await fetch(url)).json()).toEqual([{ type: 'settlement.confirmed', data: { id: 's1' } }])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
