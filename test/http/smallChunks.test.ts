import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createSmallChunks, ignoreRest, type SmallChunks } from '../../src/http/server/unreadBodies.js'

const requestOf = (headers: Record<string, string> = { 'transfer-encoding': 'chunked' }): IncomingMessage =>
  Object.assign(new IncomingMessage(new Socket()), { headers })

const bound = (chunks: SmallChunks, request: IncomingMessage): ServerResponse => {
  const response = new ServerResponse(request)
  chunks.bound(response)
  return response
}

/** Returns how many were taken before the connection was closed. */
const pushChunks = (request: IncomingMessage, count: number, bytes: number): number => {
  for (let pushed = 0; pushed < count; pushed += 1) {
    request.push(Buffer.alloc(bytes))
    if (request.socket.destroyed) return pushed
  }
  return count
}

describe('small chunks of a body', () => {
  it('are taken up to 4,096, and larger ones without end', () => {
    const chunks = createSmallChunks()
    const [small, large, whole] = [requestOf(), requestOf(), requestOf({ 'content-length': '9000' })]
    for (const request of [small, large, whole]) bound(chunks, request)
    expect(pushChunks(small, 9_000, 1)).toBe(4_096)
    expect(pushChunks(large, 9_000, 64)).toBe(9_000)
    expect(pushChunks(whole, 9_000, 1)).toBe(9_000)
  })

  it('do not count the end of the body', () => {
    const request = requestOf()
    bound(createSmallChunks(), request)
    expect(pushChunks(request, 4_096, 1)).toBe(4_096)
    request.push(null)
    expect(request.socket.destroyed).toBe(false)
  })

  it('that are read do not count for other requests', () => {
    const chunks = createSmallChunks()
    for (let sent = 0; sent < 60; sent += 1) {
      const request = requestOf()
      bound(chunks, request)
      request.resume()
      request.emit('resume')
      pushChunks(request, 4_000, 1)
    }
    const other = requestOf()
    bound(chunks, other)
    expect(pushChunks(other, 4_000, 1)).toBe(4_000)
  })

  it('of a refused request are not kept', () => {
    const request = requestOf()
    ignoreRest(request)
    expect(pushChunks(request, 9_000, 1)).toBe(9_000)
    expect(request.readableLength).toBe(0)
    expect(request.push(Buffer.alloc(request.readableHighWaterMark))).toBe(false)
  })

  it('of many requests at once are bounded together, until their responses end', () => {
    const chunks = createSmallChunks()
    const many = Array.from({ length: 50 }, () => requestOf())
    const responses = many.map((request) => {
      const response = bound(chunks, request)
      expect(pushChunks(request, 4_000, 1)).toBe(4_000)
      return response
    })
    const late = requestOf()
    bound(chunks, late)
    expect(pushChunks(late, 4_000, 1)).toBe(256)
    for (const response of responses) response.emit('close')
    const later = requestOf()
    bound(chunks, later)
    expect(pushChunks(later, 4_000, 1)).toBe(4_000)
  })
})
