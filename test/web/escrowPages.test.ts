import { describe, expect, it } from 'vitest'
import { callSettlement } from '../chains/evm/channels/channelScene.js'
import { findChromium } from '../support/chromium.js'
import { pollUntil } from '../support/pollUntil.js'
import { useEscrowConsole } from './escrowScene.js'

const chromium = findChromium()

/* What an account has in escrow for it, on a real chain. */
describe.skipIf(chromium === null)('holds and channels in the console', () => {
  const escrow = useEscrowConsole(chromium ?? '')
  const { openHold, openChannel, openPage, openDetails } = escrow

  it('a hold appears, is captured in part with the rest returned, and is refunded', async () => {
    const apiKey = await escrow.calls.register('ada@example.com')
    const list = await openPage(apiKey, 'holds')
    await list.getByText('No hold yet.').waitFor()
    const hold = await openHold(apiKey)
    await list.getByRole('table', { name: 'Holds, newest first' }).getByRole('link').click()
    const status = list.locator('.page-head .badge')
    await status.filter({ hasText: 'Held' }).waitFor()

    await list.getByRole('button', { name: 'Capture' }).click()
    const capture = list.getByRole('dialog', { name: 'Capture the payment' })
    await capture.getByLabel('Amount').fill('1.5')
    await capture.getByRole('button', { name: 'Capture' }).click()
    expect(await capture.getByLabel('Amount').getAttribute('aria-invalid')).toBe('true')
    await capture.getByLabel('Amount').fill('0.4')
    await capture.getByLabel('Return the rest to the payer').check()
    await capture.getByRole('button', { name: 'Capture' }).click()
    await status.filter({ hasText: 'Voided' }).waitFor()
    expect(await escrow.chain.balanceOf(hold.payTo)).toBe(400_000n)
    expect(await escrow.chain.balanceOf(hold.payer)).toBe(600_000n)
    const settlements = list.getByRole('table', { name: 'Settlements of the hold, oldest first' })
    for (const what of ['Hold', 'Capture', 'Void']) {
      await settlements.getByRole('link', { name: what }).waitFor()
    }

    // The operator has promised nothing for refunds to this merchant.
    await list.getByRole('button', { name: 'Refund' }).click()
    await list.getByRole('dialog').getByRole('button', { name: 'Refund' }).click()
    await list.getByRole('dialog').getByRole('alert').waitFor()
    escrow.browser.expectNoProblems()
  })

  it('shows and changes what is done before deadlines, of new holds and of one', async () => {
    const apiKey = await escrow.calls.register('katherine@example.com')
    const page = await openPage(apiKey, 'holds')
    const ofNew = page.getByLabel('New holds, before the deadline')
    await ofNew.selectOption({ label: 'Return it to the payer' })
    const isValue = (of: typeof ofNew, value: string) =>
      pollUntil(
        async () => (await of.inputValue()) === value && (await of.isEnabled()),
        `${value} to be shown`,
      )
    await isValue(ofNew, 'void')
    await openHold(apiKey)
    await page.getByRole('table', { name: 'Holds, newest first' }).getByRole('link').click()
    const ofHold = page.getByLabel('Before the deadline')
    await isValue(ofHold, 'void')
    await ofHold.selectOption({ label: 'Capture what is left' })
    await isValue(ofHold, 'capture')
    escrow.browser.expectNoProblems()
  })

  it('a hold is voided, once the question is answered', async () => {
    const apiKey = await escrow.calls.register('joan@example.com')
    const hold = await openHold(apiKey)
    const page = await openDetails(apiKey, 'holds')
    await page.getByRole('button', { name: 'Void' }).click()
    await page.getByRole('dialog', { name: 'Void the payment' }).getByRole('button', { name: 'Void' }).click()
    await page.locator('.page-head .badge').filter({ hasText: 'Voided' }).waitFor()
    expect(await escrow.chain.balanceOf(hold.payer)).toBe(1_000_000n)
    escrow.browser.expectNoProblems()
  })

  it('asks for the same capture once, although its answer was lost and the question was asked again', async () => {
    const apiKey = await escrow.calls.register('radia@example.com')
    const hold = await openHold(apiKey)
    const page = await openDetails(apiKey, 'holds')
    let lost = 0
    await page.route('**/v1/captures', async (route) => {
      if (lost > 0) return await route.continue()
      lost += 1
      await route.fetch()
      await route.abort()
    })
    try {
      const dialog = page.getByRole('dialog', { name: 'Capture the payment' })
      const ask = async () => {
        await page.getByRole('button', { name: 'Capture' }).first().click()
        await dialog.getByLabel('Amount').fill('0.4')
        await dialog.getByRole('button', { name: 'Capture' }).click()
      }
      await ask()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await ask()
      await dialog.waitFor({ state: 'detached' })
      expect(await escrow.chain.balanceOf(hold.payTo)).toBe(400_000n)
      // What was answered is asked for anew.
      await ask()
      await dialog.waitFor({ state: 'detached' })
      expect(await escrow.chain.balanceOf(hold.payTo)).toBe(800_000n)
    } finally {
      await page.unroute('**/v1/captures')
    }
  })

  it('shows no hold and no channel of another account', async () => {
    const [owner, other] = [
      await escrow.calls.register('mary@example.com'),
      await escrow.calls.register('grace@example.com'),
    ]
    const [hold, channel] = [await openHold(owner), await openChannel(owner)]
    const page = await openPage(other, `holds/${escrow.chain.network}/${hold.hash}`)
    await page.getByText('There is no such hold.').waitFor()
    await openPage(other, `channels/${escrow.chain.network}/${channel.id}`)
    await page.getByText('There is no such channel.').waitFor()
    escrow.browser.expectNoProblems()
  })

  it('a channel shows what is signed and not claimed yet, and a withdrawal of its payer', async () => {
    const apiKey = await escrow.calls.register('barbara@example.com')
    const channel = await openChannel(apiKey)
    const page = await openDetails(apiKey, 'channels')
    await page.locator('.facts').getByText('0.75').waitFor()
    await page.getByText('Vouchers are kept here').waitFor()
    await callSettlement(channel, channel.wallet.address, 'initiateWithdraw', [channel.config, 1_000n])
    await page.getByText('withdrawal requested').waitFor()
    escrow.browser.expectNoProblems()
  })

  it('the pages are readable in both themes and both widths', async () => {
    const apiKey = await escrow.calls.register('hedy@example.com')
    await openHold(apiKey)
    await openChannel(apiKey)
    const page = await openPage(apiKey, '')
    for (const label of ['Holds', 'Channels']) {
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: label }).click()
      await page.locator('.row-link').first().waitFor()
      await escrow.browser.expectReadable(label.toLowerCase())
      await page.locator('.row-link').first().click()
      await page.locator('.receipt').waitFor()
      await escrow.browser.expectReadable(`${label.toLowerCase()}-details`)
    }
    await page.goBack()
    await page.goBack()
    await page.locator('.receipt').waitFor()
    await page.getByRole('button', { name: 'Capture' }).click()
    await page.getByRole('dialog').getByLabel('Amount').fill('0.5')
    await escrow.browser.expectReadable('capture')
    escrow.browser.expectNoProblems()
  })
})
