'use strict';
'require view';
'require form';
'require fs';
'require ui';

return view.extend({
	load: function () {
		return L.resolveDefault(fs.exec('/usr/sbin/fourhop-gateway', ['status']), { stdout: '' });
	},

	render: function (status) {
		var m = new form.Map('fourhop-gateway', _('Mesh pacing'),
			_('Paces TCP on its way into a multihop mesh. What is left empty is learned when the service starts.'));
		var s = m.section(form.NamedSection, 'main', 'gateway');
		var o;

		s.option(form.Flag, 'enabled', _('Enabled'));
		o = s.option(form.DynamicList, 'device', _('Mesh devices'));
		o.datatype = 'maxlength(15)';
		o = s.option(form.Value, 'rate', _('Rate of the links'));
		o.placeholder = _('learned');
		o = s.option(form.ListValue, 'hops', _('Hops are known'));
		o.value('', _('learned'));
		o.value('ttl', _('by the time to live'));
		o.value('aodv', _('from fourhop-aodvd'));
		o.optional = true;
		o = s.option(form.ListValue, 'share', _('Share'));
		o.value('even', _('the same for all flows'));
		o.value('own', _('each flow for itself'));
		o = s.option(form.Value, 'metrics', _('Figures for Prometheus at'));
		o.placeholder = '127.0.0.1:9466';

		return m.render().then(function (node) {
			return E([node, E('h3', _('State')), E('pre', status.stdout || _('The service does not run.'))]);
		});
	}
});
