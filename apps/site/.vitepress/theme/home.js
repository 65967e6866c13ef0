// The first page, with the main part that the default theme's has not.
import VPHomeFeatures from 'vitepress/dist/client/theme-default/components/VPHomeFeatures.vue';
import VPHomeHero from 'vitepress/dist/client/theme-default/components/VPHomeHero.vue';
import { h } from 'vue';

export default () => h('main', { class: 'first-page' }, [h(VPHomeHero), h(VPHomeFeatures)]);
