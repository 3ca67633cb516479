import { describe, expect, it } from 'vitest'
import { canonicalMailbox } from '../../../src/usecases/dashboard/mails.js'

describe('the mailbox of an address', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['ADA@Example.COM', 'ada@example.com'],
    ['ada+1@example.com', 'ada@example.com'],
    ['ada+a+b@example.com', 'ada@example.com'],
    ['+ada@example.com', '+ada@example.com'],
    ['ａｄａ@ｅｘａｍｐｌｅ.com', 'ada@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
    ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
    ['ada@example。com', 'ada@example.com'],
    ['a.d.a+1@GMail.com', 'ada@gmail.com'],
    ['a.da@googlemail.com', 'ada@gmail.com'],
    // Google Workspace, and providers that only look like Google.
    ['a.da@mail.gmail.com', 'a.da@mail.gmail.com'],
    ['a.da@gmail.com.example', 'a.da@gmail.com.example'],
    // Another address at most providers.
    ['a.da@example.com', 'a.da@example.com'],
    ['адa@example.com', 'адa@example.com'],
  ])('%s is %s', (address, mailbox) => {
    expect(canonicalMailbox(address).mailbox).toBe(mailbox)
  })

  it.each([
    ['ada@example.com', 'example.com'],
    ['ada@a.b.example.com', 'example.com'],
    ['ada@shop.example.co.uk', 'example.co.uk'],
    ['ada@mail.example.com.au', 'example.com.au'],
    ['ada@bücher.example', 'xn--bcher-kva.example'],
  ])('%s is under %s', (address, domain) => {
    expect(canonicalMailbox(address).domain).toBe(domain)
  })
})
