/** Ids in the style of the public service: two words and a number. */
import { randomInt } from 'node:crypto';

const FIRST_WORDS = (
  'ancient autumn bitter blue bold broad calm cold cool crimson damp dawn dry falling flat floral fragrant frosty ' +
  'gentle green hidden icy late lingering little lively misty morning muddy odd old orange patient plain polished ' +
  'proud purple quiet rapid red restless rough round shiny silent small snowy soft solitary sparkling spring square ' +
  'still summer super sweet tight tiny twilight wandering weathered white wild winter wispy withered yellow young'
).split(' ');
const SECOND_WORDS = (
  'art bar base bird block boat bonus bread breeze brook bush butterfly cake cell cherry cloud credit darkness dawn ' +
  'dew disk dream dust feather field fire firefly flower fog forest frog frost glade glitter grass hall hat haze ' +
  'heart hill king lab lake leaf limit math meadow mode moon morning mountain mouse mud night paper pine poetry pond ' +
  'queen rain recipe resonance rice river salad scene sea shadow shape silence sky smoke snow sound star sun sunset ' +
  'surf term thunder tooth tree truth union unit violet voice water waterfall wave wildflower wind wood'
).split(' ');

const pickWord = (words: readonly string[]): string => words[randomInt(words.length)] ?? '';

/** @param isTaken whether an id is already in use */
export function generateId(prefix: 'ep-' | 'br-' | 'snap-' | '', isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = `${prefix}${pickWord(FIRST_WORDS)}-${pickWord(SECOND_WORDS)}-${String(randomInt(1_000_000)).padStart(6, '0')}`;
    if (!isTaken(id)) return id;
  }
}
